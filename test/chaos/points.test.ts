import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seeded } from '../support/random.js';
import { FaultPoints } from './points.js';

const KILLS = 20;
const SEED = Number(process.env.LONGHAUL_CHAOS_SEED ?? 20_260_101);

describe(`a worker that dies in the middle of its work (LONGHAUL_CHAOS_SEED=${SEED})`, () => {
  let faults: FaultPoints;
  let count: number;
  let reached = 0;
  beforeAll(async () => {
    faults = await FaultPoints.open();
    count = (await faults.count()).length;
  });
  afterAll(() => faults.close());

  const random = seeded(SEED);
  const kills = Array.from({ length: KILLS }, (_, at) => ({ kill: at + 1, place: (at + random()) / KILLS }));

  it.each(kills)(
    'death $kill of 20: the task comes to the same conversation',
    async ({ place }) => {
      const { where } = await faults.run(1 + Math.floor(place * count), 'kill');
      if (where !== undefined) reached++;
    },
    90_000,
  );

  it('has died nearly each time: the number of points varies by a few', () => {
    expect(reached).toBeGreaterThanOrEqual(KILLS - 2);
  });
});
