import { TaskClient } from '../client.js';
import { isOpen } from '../domain/outcomes.js';
import type { OnAsk } from './flags.js';
import type { Io } from './io.js';
import { StopSignals } from './signals.js';
import { Starting } from './starting.js';
import { requireTask, uiPage } from './task-row.js';
import { viewing } from './viewing.js';

export interface AttachFlags {
  from?: number;
  onAsk?: OnAsk;
  json?: boolean;
}

/** Shows a task from its beginning (or `--from`) and follows it while it is open. @returns the exit code */
export async function attachCommand(io: Io, home: string, prefix: string, flags: AttachFlags): Promise<number> {
  const signals = new StopSignals(io);
  const starting = new Starting(io);
  const options = { home, env: io.env, from: 'cli' as const, ...starting.reports };
  let client = await TaskClient.local(options);
  try {
    const task = await client.resolve(prefix);
    if (isOpen((await requireTask(client.journal, task)).status)) {
      await client.close();
      client = await starting.until(TaskClient.connect(options));
    }
    const { workspace, model } = await requireTask(client.journal, task);
    const { view, follow } = viewing(io, home, client, signals, flags);
    const ui = await uiPage(home, io.env, task);
    view.head({ task, workspace, model, ...(ui ? { ui } : {}) });
    return await follow(task, flags.from ?? 1);
  } finally {
    signals.dispose();
    await client.close();
  }
}
