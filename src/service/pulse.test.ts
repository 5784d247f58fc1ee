import { expect, test } from 'vitest';
import { HUNG_MS, Pulse } from './pulse.js';

const LOOK = 2_000;

function watched() {
  let now = 1_000;
  const pulse = new Pulse(HUNG_MS, () => now);
  /** Looks for that long; the time of the first look that says it has hung. */
  const lookFor = (ms: number, beats = false): number | undefined => {
    for (const until = now + ms; now < until; ) {
      now += LOOK;
      if (beats) pulse.beat();
      if (pulse.hasHung()) return now;
    }
    return undefined;
  };
  return { pulse, lookFor, suspend: (ms: number) => (now += ms), time: () => now };
}

test('a process that gives signs of life has not hung; one that stops has, half a minute later', () => {
  const { lookFor, time } = watched();
  expect(lookFor(200_000, true)).toBeUndefined();
  const stopped = time();
  expect(lookFor(200_000)).toBe(stopped + HUNG_MS + LOOK);
});

test('one that has never given a sign is not judged', () => {
  expect(watched().lookFor(500_000)).toBeUndefined();
});

test('after a suspension of the machine it has the whole time again', () => {
  const { lookFor, suspend, time } = watched();
  lookFor(10_000, true);
  lookFor(HUNG_MS - LOOK);
  suspend(3_600_000);
  const woken = time();
  expect(lookFor(200_000)).toBe(woken + LOOK + HUNG_MS + LOOK);
});
