import type { Mode } from '../domain/modes.js';
import { type Io, printJson, printLine } from './io.js';
import { withTask } from './with-client.js';

/** `mode ID plan|act`. @returns the exit code */
export function modeCommand(io: Io, home: string, prefix: string, mode: Mode, json?: boolean): Promise<number> {
  return withTask(io, home, prefix, async (client, task) => {
    const { unchanged } = await client.setMode(task, mode);
    if (json) printJson(io, { type: 'mode', task, mode, unchanged });
    else printLine(io, unchanged ? `The task is in ${mode} mode already.` : `In ${mode} mode from the next turn on.`);
    return 0;
  });
}
