import { TaskClient } from '../client.js';
import type { OnAsk } from './flags.js';
import { type Io, printLine } from './io.js';
import { StopSignals } from './signals.js';
import { Starting } from './starting.js';
import { viewing } from './viewing.js';

export interface ResumeFlags {
  detach?: boolean;
  json?: boolean;
  onAsk?: OnAsk;
}

/** `resume ID ["TEXT"]`: takes an ended task up again and follows the new run. @returns the exit code */
export async function resumeCommand(
  io: Io,
  home: string,
  prefix: string,
  text: string | undefined,
  flags: ResumeFlags,
): Promise<number> {
  const signals = new StopSignals(io);
  const starting = new Starting(io);
  const client = await TaskClient.local({ home, env: io.env, from: 'cli', ...starting.reports });
  try {
    const resumed = await starting.until(client.resolve(prefix).then((task) => client.resume(task, text)));
    const { task, from } = resumed;
    const { view, follow } = viewing(io, home, client, signals, flags);
    view.head(resumed);
    if (!flags.detach) return await follow(task, from);
    if (!flags.json) printLine(io, `Follow it with: ${io.command} attach ${task} --from ${from}`);
    return 0;
  } finally {
    signals.dispose();
    await client.close();
  }
}
