import { describe, expect, it } from 'vitest';
import { FAULTS } from './faults.js';
import { matrixTable, runMatrix } from './matrix.js';

const SEED = Number(process.env.LONGHAUL_TEST_SEED) || 20_260_101;

/** `npm run chaos` has many more of them. */
describe(`tasks at work, while faults of every kind strike (LONGHAUL_TEST_SEED=${SEED})`, () => {
  it('lose no effect, repeat none, and say what they do not know', async () => {
    const result = await runMatrix({ seed: SEED, faults: FAULTS.length + 3, tasks: 4 });
    expect(result.problems, matrixTable(result)).toEqual([]);
    expect(result.exposures).toBeGreaterThanOrEqual(4 * FAULTS.length);
    expect(result.effects).toBeGreaterThan(100);
  }, 600_000);
});
