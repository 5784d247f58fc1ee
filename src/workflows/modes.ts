import type { Mode } from '../domain/modes.js';
import type { Task } from './state.js';

/** The next request says which mode it is in. */
export function switchMode({ carried }: Task, mode: Mode): void {
  carried.mode = mode;
  delete carried.lastActRespond;
  const others = carried.notices.filter((notice) => notice !== 'plan_mode' && notice !== 'act_mode');
  carried.notices = [...others, mode === 'plan' ? 'plan_mode' : 'act_mode'];
}
