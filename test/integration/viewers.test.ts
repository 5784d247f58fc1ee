import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, cut, finish, pace, type Step, say, stall, think } from '../../src/fake-model/index.js';
import { view as viewStreams } from '../support/viewing.js';
import { isClosed, startWorld, until, type World } from '../support/world.js';

const WORDS = Array.from({ length: 300 }, (_, at) => `word${at} \u{1F98A}`).join(' ');

describe('viewers', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker({ env: { LONGHAUL_IDLE_LIMIT_MS: '3000' } });
  });
  afterAll(() => world.stop());

  const view = async (task: string) => [...(await viewStreams(world.journal, task)).values()].join('\n');

  it('both rebuild the same text, one of them late, across an attempt that was retracted', async () => {
    const model = await world.model({
      responder: ({ turn }): Step[] =>
        turn === 0
          ? [
              think('Hm.'),
              pace(10),
              say(WORDS),
              cut(1),
              say('second part'),
              call('list_files', { path: '.' }),
              finish(),
            ]
          : [call('attempt_completion', { result: 'done' }), finish()],
      paceMs: 10,
    });
    const { task } = await world.start(model, {});
    const early = view(task);
    await until(async () => (await world.journal.readPartials(task, 0)).length > 3);
    const late = view(task);
    await world.seen(task, (event) => event.type === 'retract');
    const later = view(task);
    const texts = await Promise.all([early, late, later]);
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]?.split(WORDS)).toHaveLength(2);
    expect(texts[0]?.split('word17 ')).toHaveLength(2);
    expect(await view(task)).toBe(texts[0]);
    expect(model.refused()).toEqual([]);
  });

  it('keep the text of an answer that broke off after a call of it had started', async () => {
    const model = await world.model({
      responder: ({ turn }): Step[] =>
        turn === 0
          ? [call('list_files', { path: '.' }), say('and then'), stall()]
          : [call('attempt_completion', { result: 'done' }), finish()],
    });
    const { task } = await world.start(model, {});
    expect((await world.event(task, isClosed)).outcome.outcome).toBe('completed');
    expect(await view(task)).toContain('and then');
    expect(model.refused()).toEqual([]);
  });
});
