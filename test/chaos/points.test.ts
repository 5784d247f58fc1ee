import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seeded } from '../support/random.js';
import { type Fault, FaultPoints, isOfAttempt } from './points.js';

const KILLS = 20;
const STOPS: readonly Fault[] = ['stop until taken over', 'stop until taken over', 'stop until the end'];
const SEED = Number(process.env.LONGHAUL_TEST_SEED) || 20_260_101;

/** `npm run chaos` plays all of them. */
describe(`a worker that dies or stops in the middle of its work (LONGHAUL_TEST_SEED=${SEED})`, () => {
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
  const stops = STOPS.map((fault) => ({ fault, place: random() }));

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

  it('has no part any more in what another worker took over while it was stopped', async () => {
    const points = names.flatMap((name, at) => (isOfAttempt(name) ? [at + 1] : []));
    expect(points.length).toBeGreaterThan(50);
    // most of the time goes by waiting, so they wait at once
    const runs = stops.map(async ({ fault, place }) => {
      const lane = await FaultPoints.open();
      try {
        await lane.count();
        return await lane.run(points[Math.floor(place * points.length)]!, fault);
      } finally {
        await lane.close();
      }
    });
    const settled = await Promise.allSettled(runs);
    expect(settled.filter(({ status }) => status === 'rejected')).toEqual([]);
  }, 240_000);
});
