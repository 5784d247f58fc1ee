import { expect, it } from 'vitest';
import { wantsColour } from './io.js';

it.each<[NodeJS.ProcessEnv, boolean, boolean]>([
  [{ TERM: 'xterm' }, true, true],
  [{ TERM: 'xterm' }, false, false],
  [{ TERM: 'dumb' }, true, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ FORCE_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, true, false],
])('colours with %j at a terminal (%j): %j', (env, terminal, colour) => {
  expect(wantsColour(env, terminal)).toBe(colour);
});
