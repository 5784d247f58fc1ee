import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, finish } from '../../src/fake-model/index.js';
import { answers, done } from '../support/playing.js';
import { seeded } from '../support/random.js';
import { resultsOf } from '../support/requests.js';
import { isClosed, startWorld } from '../support/world.js';
import { type Fault, FaultPoints, isOfAttempt } from './points.js';

const SEED = Number(process.env.LONGHAUL_TEST_SEED) || 20_260_101;
const STOPS: readonly Fault[] = ['stop until taken over', 'stop until taken over', 'stop until the end'];

/** Most of their time goes by waiting, so they wait at once. */
describe.concurrent(`what takes long (LONGHAUL_TEST_SEED=${SEED})`, () => {
  const random = seeded(SEED);
  const stops = STOPS.map((fault) => ({ fault, place: random() }));

  it.each(stops)(
    'a worker has no part any more in what another one took over: $fault, at $place of its points',
    async ({ fault, place }) => {
      const faults = await FaultPoints.open();
      try {
        const points = (await faults.count()).flatMap((name, at) => (isOfAttempt(name) ? [at + 1] : []));
        expect(points.length).toBeGreaterThan(50);
        await faults.run(points[Math.floor(place * points.length)]!, fault);
      } finally {
        await faults.close();
      }
    },
    240_000,
  );

  it('a command of a minute survives three workers, runs once, and all it printed reaches the model', async () => {
    const world = await startWorld();
    try {
      const command = 'echo begun >> counter; for i in $(seq 240); do echo "line $i"; sleep 0.25; done; exit 7';
      const turn = [call('execute_command', { command, requires_approval: false, timeout: 300 }), finish()];
      const model = await world.model({ responder: answers(turn, done) });
      let worker = await world.worker();
      const { task, workspace } = await world.start(model, { workspace: world.workspace({}) });
      for (let kill = 0; kill < 3; kill++) {
        await new Promise((next) => setTimeout(next, 12_000));
        await worker.kill9();
        worker = await world.worker();
      }
      await world.event(task, isClosed, 90_000);
      const result = resultsOf(model.requests.at(-1)?.body)[0]?.text ?? '';
      expect(result).toContain('exit code 7');
      expect(result.match(/line \d+/g)).toEqual(Array.from({ length: 240 }, (_, i) => `line ${i + 1}`));
      expect(
        (await world.events(task)).filter(({ event }) => event.type === 'say' && event.say === 'command'),
      ).toHaveLength(1);
      expect(readFileSync(join(workspace, 'counter'), 'utf8')).toBe('begun\n');
    } finally {
      await world.stop();
    }
  }, 240_000);
});
