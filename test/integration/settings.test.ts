import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TaskInput } from '../../src/domain/task.js';
import { call, finish, type Responder } from '../../src/fake-model/index.js';
import { isAsk, isClosed, modelEnv, startWorld, type World } from '../support/world.js';

const runs: Responder = ({ turn }) =>
  turn === 0
    ? [call('execute_command', { command: 'echo ran', requires_approval: false }), finish()]
    : [call('attempt_completion', { result: 'done' }), finish()];

describe('settings', () => {
  let world: World;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
    env = modelEnv({}, await world.model({ responder: runs }));
  });
  afterEach(() => rmSync(join(world.home, 'settings.json'), { force: true }));
  afterAll(() => world.stop());

  const atHome = (settings: object) => writeFileSync(join(world.home, 'settings.json'), JSON.stringify(settings));
  const run = (workspace: string, ...flags: string[]) =>
    world.cli(['run', 'Go.', '-w', workspace, '--json', ...flags], { env });
  const inputOf = async (task: unknown) => {
    const row = await world.journal.getTask(task as string);
    return JSON.parse(row?.input ?? '') as TaskInput;
  };

  it('of a workspace hold a person’s flags back, and it is said', async () => {
    const workspace = world.workspace({ '.longhaul/settings.json': '{ "yolo": false, "limits": { "maxTurns": 7 } }' });
    const { code, err, lines } = await run(workspace, '--yolo', '--max-turns', '40');
    expect(code).toBe(3);
    expect(err).toContain(
      "note: the workspace's .longhaul/settings.json tightens: yolo is off; limits.maxTurns is 7.\n",
    );
    expect(lines[0]).toMatchObject({ type: 'task', tightened: ['yolo is off', 'limits.maxTurns is 7'] });
    const task = lines[0]?.task as string;
    expect(await world.event(task, isAsk)).toMatchObject({ ask: { kind: 'command' } });
    await world.cli(['abort', task], { env });
  });

  it('that are wrong start nothing, and the error has the place', async () => {
    const workspace = world.workspace({ '.longhaul/settings.json': '{\n  // ours\n  "profile": "theirs"\n}' });
    const before = (await world.journal.listTasks()).length;
    const theirs = await run(workspace);
    expect(theirs.code).toBe(1);
    expect(theirs.lines).toMatchObject([{ type: 'error', slug: 'bad-settings', kept: 'No task was started.' }]);
    expect(theirs.err).toContain('.longhaul/settings.json:3:14: "profile" may not be set by a workspace.');
    atHome({ limits: { maxturns: 3 } });
    const mine = await run(world.workspace());
    expect(mine.err).toContain(
      `${world.home}/settings.json:1:12: "limits.maxturns" is no setting. Did you mean maxTurns?`,
    );
    expect((await world.journal.listTasks()).length).toBe(before);
  });

  it('of the home and flags reach the task, the flags first', async () => {
    atHome({
      model: 'claude-haiku-4-5-20251001',
      approve: ['read', 'all'],
      mode: 'plan',
      asks: { all: { deadline: '2d' }, command: { remind: '1h' } },
    });
    const flags = ['--mode', 'act', '--plan-model', 'claude-opus-4-8', '--protocol', 'native'];
    const { code, lines } = await run(world.workspace(), ...flags, '--ask-default', 'yes', '--ask-remind', '30m');
    expect(code).toBe(0);
    const { settings } = await inputOf(lines[0]?.task);
    expect(settings).toMatchObject({
      model: 'claude-haiku-4-5-20251001',
      planModel: 'claude-opus-4-8',
      policy: { yolo: false, approve: ['read', 'all'] },
      mode: 'act',
      toolProtocol: 'native',
    });
    expect(settings.asks.tool).toEqual({ deadlineMs: 172_800_000, default: 'yes', remindMs: 1_800_000 });
    expect(settings.asks.command).toEqual({ default: 'yes', remindMs: 1_800_000 });
  });

  it('of the home may name the profile; what the shell says for Longhaul alone goes before', async () => {
    await world.cli(['profile', 'save', 'work'], { env });
    atHome({ profile: 'work' });
    const started = await run(world.workspace(), '--detach');
    const row = await world.journal.getTask(started.lines[0]?.task as string);
    expect(row?.profile).toBe('work');
    atHome({ profile: 'gone' });
    expect((await run(world.workspace())).err).toContain('profile-unknown');
    const named = await world.cli(['run', 'Go.', '-w', world.workspace(), '--detach'], {
      env: { ...env, LONGHAUL_PROFILE: 'work' },
    });
    expect(named.code).toBe(0);
  });

  it('are not asked for by a program that says so', async () => {
    atHome({ model: 'nowhere' });
    const client = await world.client({ url: env.ANTHROPIC_BASE_URL! });
    const { model, task } = await client.start({
      prompt: 'Go.',
      workspace: world.workspace(),
      policy: { yolo: true },
      settingsFiles: false,
    });
    expect(model).toBe('claude-sonnet-5');
    expect((await world.event(task, isClosed)).outcome.outcome).toBe('completed');
  });
});
