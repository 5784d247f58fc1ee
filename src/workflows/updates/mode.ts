import { setHandler } from '@temporalio/workflow';
import { isMode, type Mode } from '../../domain/modes.js';
import type { ModeReply } from '../../domain/replies.js';
import { sayDone } from '../ask.js';
import { modeUpdate } from '../definitions.js';
import { switchMode } from '../modes.js';
import type { Task } from '../state.js';
import { argument, onlyKeys, refused, refuseLate, refuseWhileClosing } from './refuse.js';

/** Plan or act, from the next turn on. */
export function handleMode(task: Task): void {
  setHandler(modeUpdate, (raw) => takeMode(task, readMode(raw)), {
    validator: (raw) => {
      readMode(raw);
      refuseLate(raw);
      refuseWhileClosing(task);
    },
    description: 'Sets the mode from the next turn on: "plan" or "act". Act mode also answers an open plan ask.',
  });
}

async function takeMode(task: Task, mode: Mode): Promise<ModeReply> {
  if (task.carried.mode === mode) return { mode, unchanged: true };
  switchMode(task, mode);
  if (mode === 'act') {
    for (const open of task.asks) {
      if (open.ask.kind === 'plan_mode_respond') open.settled ??= { answer: { answer: 'yes' }, by: 'person' };
    }
  }
  await sayDone(task, [{ type: 'mode', mode }]);
  return { mode, unchanged: false };
}

function readMode(raw: unknown): Mode {
  if (isMode(raw)) return raw;
  const given = argument(raw, '{"mode":"plan"}');
  onlyKeys(given, ['mode', 'notAfter']);
  if (isMode(given.mode)) return given.mode;
  throw refused('BadArgument', '"mode" is "plan" or "act".');
}
