import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seeded } from '../support/random.js';
import { PointRunner } from './points.js';

const POINTS = 20;
const SEED = Number(process.env.LONGHAUL_TEST_SEED) || 20_261_201;

/** `npm run chaos` plays all of them. */
describe(`a worker that kills itself at ${POINTS} points of a task (LONGHAUL_TEST_SEED=${SEED})`, () => {
  let runner: PointRunner;
  let names: string[];
  beforeAll(async () => {
    runner = await PointRunner.start();
    names = await runner.count();
  }, 120_000);
  afterAll(() => runner?.stop());

  it('leaves a task that ends as it would have', async () => {
    expect(names.length).toBeGreaterThan(50);
    const random = seeded(SEED);
    const points = Array.from({ length: POINTS }, () => 1 + Math.floor(random() * names.length));
    let deaths = 0;
    for (const point of points) {
      const { died, problems } = await runner.play({ LONGHAUL_FAULT_POINT: String(point) });
      expect(problems, `point ${point} of ${names.length}`).toEqual([]);
      if (died) deaths++;
    }
    expect(deaths).toBeGreaterThan(POINTS / 2);
  }, 600_000);
});
