import { TaskClient } from '../client.js';
import type { OnAsk } from './flags.js';
import { follow } from './follow.js';
import { HumanView } from './human-view.js';
import { type Io, printLine } from './io.js';
import { JsonView } from './json-view.js';
import { onAskOf } from './run.js';
import { StopSignals } from './signals.js';
import { Starting } from './starting.js';
import { serviceRuns } from './task-row.js';

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
  const client = await TaskClient.local({ home, env: io.env, ...starting.reports });
  try {
    const resumed = await starting.until(client.resolve(prefix).then((task) => client.resume(task, text)));
    const { task, from } = resumed;
    const onAsk = onAskOf(io, flags);
    const view = flags.json ? new JsonView(io) : new HumanView(io, client.journal, { howToAnswer: onAsk !== 'prompt' });
    view.head(resumed);
    if (flags.detach) {
      if (!flags.json) printLine(io, `Follow it with: ${io.command} attach ${task} --from ${from}`);
      return 0;
    }
    const { journal } = client;
    return await follow({
      io,
      journal,
      actions: client,
      view,
      signals,
      onAsk,
      task,
      from,
      serviceRuns: serviceRuns(home),
    });
  } finally {
    signals.dispose();
    await client.close();
  }
}
