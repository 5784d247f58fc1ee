import { type Io, printJson, printLine } from './io.js';
import { withTask } from './with-client.js';

/** `pause ID` and `unpause ID`. @returns the exit code */
export function pauseCommand(io: Io, home: string, prefix: string, paused: boolean, json?: boolean): Promise<number> {
  return withTask(io, home, prefix, async (client, task) => {
    await (paused ? client.pause(task) : client.unpause(task));
    if (json) printJson(io, { type: paused ? 'pause' : 'unpause', task, paused });
    else if (paused)
      printLine(io, `Paused: what is running ends, nothing new begins. Go on with: ${io.command} unpause ${task}`);
    else printLine(io, 'The task goes on.');
    return 0;
  });
}
