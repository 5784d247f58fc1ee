import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_APPROVALS } from '../../src/domain/policy.js';
import { finish, type Responder } from '../../src/fake-model/index.js';
import { noticeText } from '../../src/prompts/notices.js';
import { command, completes, ended, lastRequest, linesOf, question, RESUMED } from '../support/resuming.js';
import { updateByCli } from '../support/temporal-cli.js';
import { isAsk, modelEnv, startWorld, until, type World } from '../support/world.js';

const POLICY = { yolo: false, approve: [...DEFAULT_APPROVALS, 'all' as const] };

describe('a task that is switched to another mode', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const begin = async (responder: Responder) => {
    const model = await world.model({ responder });
    return { model, ...(await world.start(model, { policy: POLICY })) };
  };

  it('while a command runs, which ends as it would; the next request says so once', async () => {
    const { task, client, model, workspace } = await begin(({ turn }) => {
      if (turn === 0) return [command('echo x >> counter; while ! test -e go; do sleep 0.1; done'), finish()];
      return [turn === 1 ? question('Which?') : completes('end'), finish()];
    });
    await until(() => linesOf(workspace).length === 1);
    const env = modelEnv({}, model);
    const switched = await world.cli(['mode', task, 'plan', '--json'], { env });
    expect(switched.lines).toEqual([{ v: 1, type: 'mode', task, mode: 'plan', unchanged: false }]);
    expect(await client.setMode(task, 'plan')).toEqual({ mode: 'plan', unchanged: true });
    writeFileSync(join(workspace, 'go'), '');
    const { ask } = await world.event(task, isAsk);
    expect(lastRequest(model).times(noticeText('plan_mode').slice(0, 40))).toBe(1);
    await client.setMode(task, 'act');
    await client.answer(task, { ask: ask.id, answer: 'message', text: 'this' });
    await ended(world, task);
    const { text } = lastRequest(model);
    expect(text).toContain(noticeText('act_mode').slice(0, 40));
    const modes = (await world.events(task)).flatMap(({ event }) => (event.type === 'mode' ? [event.mode] : []));
    expect(modes).toEqual(['plan', 'act']);
  });

  it('by update with a word or an object; anything else is refused', async () => {
    const { task, client } = await begin(() => [question('Which?'), finish()]);
    await world.event(task, isAsk);
    const update = (input?: string) => updateByCli(world, task, 'mode', input);
    await update('"plan"');
    await update('{"mode":"act"}');
    await update(JSON.stringify('{"mode":"plan"}'));
    await expect(update('"yolo"')).rejects.toThrow(/JSON object/);
    await expect(update('{"mode":"yolo"}')).rejects.toThrow(/"plan" or "act"/);
    await expect(update('{"mode":"act","now":true}')).rejects.toThrow(/"now" is not known/);
    await expect(update('{"mode":"act","notAfter":1}')).rejects.toThrow(/too late/);
    await expect(update()).rejects.toThrow(/JSON object/);
    expect((await world.cli(['show', task, '--json'])).lines[0]).toMatchObject({ mode: 'plan' });
    await client.abort(task);
  });

  it('and its limits likewise', async () => {
    const { task, client } = await begin(() => [question('Which?'), finish()]);
    await world.event(task, isAsk);
    const update = (input?: string) => updateByCli(world, task, 'limits', input);
    await update('{"maxTurns":9,"maxCost":2.5}');
    await update(JSON.stringify('{"maxCost":null,"softPercent":50}'));
    await expect(update('{"maxTurns":0}')).rejects.toThrow(/whole number of turns/);
    await expect(update('{"maxMoney":1}')).rejects.toThrow(/no limit "maxMoney"/);
    await expect(update('{}')).rejects.toThrow(/No limit is given/);
    await expect(update('7')).rejects.toThrow(/JSON object/);
    await expect(update('{"maxTurns":3,"notAfter":1}')).rejects.toThrow(/too late/);
    expect((await world.cli(['show', task, '--json'])).lines[0]).toMatchObject({
      limits: { maxTurns: 9, softPercent: 50 },
    });
    await client.abort(task);
  });

  it.each([
    ['left', false],
    ['lost', true],
  ])('is in that mode when it is taken up again, its state %s', async (_, terminated) => {
    const { task, client, model } = await begin(({ body }) =>
      JSON.stringify(body).includes(RESUMED) ? [completes('end'), finish()] : [question('Which?'), finish()],
    );
    await world.event(task, isAsk);
    await client.setMode(task, 'plan');
    if (terminated) await world.temporal.workflow.getHandle(task).terminate();
    else {
      await client.abort(task);
      await ended(world, task);
    }
    await client.resume(task);
    await until(() => model.requests.length === 2);
    const { text } = lastRequest(model);
    expect(text).toContain('the person has said nothing: ask through plan_mode_respond');
    expect((await world.cli(['show', task, '--json'])).lines[0]).toMatchObject({ mode: 'plan' });
    await client.abort(task).catch(() => undefined);
  });
});
