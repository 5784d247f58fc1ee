import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seeded } from '../support/random.js';
import { FaultPoints } from './points.js';

const KILLS = 20;
const SEED = Number(process.env.LONGHAUL_TEST_SEED) || 20_260_101;

/** `npm run chaos` plays all of them. */
describe(`a worker that dies in the middle of its work (LONGHAUL_TEST_SEED=${SEED})`, () => {
  let faults: FaultPoints;
  let names: string[];
  let reached = 0;
  beforeAll(async () => {
    faults = await FaultPoints.open();
    names = await faults.count();
  }, 60_000);
  afterAll(() => faults?.close());

  const random = seeded(SEED);
  const kills = Array.from({ length: KILLS }, (_, at) => ({ kill: at + 1, place: (at + random()) / KILLS }));

  it.each(kills)(
    `death $kill of ${KILLS}: the task comes to the same conversation`,
    async ({ place }) => {
      const { where } = await faults.run(1 + Math.floor(place * names.length), 'kill');
      if (where !== undefined) reached++;
    },
    120_000,
  );

  it('has died nearly each time: the number of points varies by a few', () => {
    expect(reached).toBeGreaterThanOrEqual(KILLS - 2);
  });
});
