import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../src/domain/events.js';
import { call, type FakeModel, finish, type Responder, startFakeModel } from '../../src/fake-model/index.js';
import type { Journal } from '../../src/journal/journal.js';
import { openJournal } from '../../src/journal/open.js';
import { cleanEnv, isAsk, isClosed, runCli, until } from '../support/world.js';

const KEY = 'sk-right-0123456789';
const completes: Responder = () => [call('attempt_completion', { result: 'done' }), finish()];
const command = (text: string) => call('execute_command', { command: text, requires_approval: false });

describe('provider profiles and the local service', () => {
  const home = mkdtempSync(join(tmpdir(), 'longhaul-home-'));
  const env = { ...cleanEnv(), LONGHAUL_HOME: home };
  const models: FakeModel[] = [];
  let journal: Journal;
  beforeAll(async () => {
    journal = await openJournal({ home });
  });
  afterAll(async () => {
    await runCli(['down'], env);
    await journal.close();
    for (const model of models) await model.close();
    rmSync(home, { recursive: true, force: true });
  });

  const cli = (argv: string[], more: NodeJS.ProcessEnv = {}) => runCli(argv, { ...env, ...more });
  const model = async (responder: Responder) => {
    const started = await startFakeModel({ responder, apiKey: KEY });
    models.push(started);
    return started;
  };
  const shell = (of: FakeModel, key = KEY) => ({ ANTHROPIC_BASE_URL: of.url, ANTHROPIC_API_KEY: key });
  const events = async (task: string) => (await journal.readEvents(task, 0)).map(({ event }) => event);
  const event = <T extends TaskEvent>(task: string, is: (one: TaskEvent) => one is T) =>
    until(async () => (await events(task)).find(is));
  const begin = async (argv: string[] = [], more: NodeJS.ProcessEnv = {}) => {
    const workspace = mkdtempSync(join(home, 'ws-'));
    const run = await cli(['run', 'Do it.', '--detach', '--json', '--yolo', '-w', workspace, ...argv], more);
    return { run, task: String(run.lines[0]?.task), workspace };
  };

  it('without any settings a task is not started, and it is said what to do', async () => {
    const { run } = await begin();
    expect(run.lines[0]).toMatchObject({ type: 'error', slug: 'no-api-key' });
    expect(run.err).toContain('profile save default');
    expect((await begin(['--profile', 'absent'])).run.lines[0]).toMatchObject({ slug: 'profile-unknown' });
    expect(existsSync(join(home, 'service.json'))).toBe(false);
  });

  it('`default` serves shells without settings; what is mended in it counts from the next request on', async () => {
    const answering = await model(completes);
    await cli(['profile', 'save', 'default'], shell(answering, 'sk-wrong-0123456789'));
    const { task } = await begin();
    const { ask } = await event(task, isAsk);
    expect(ask.kind).toBe('api_req_failed');
    expect((await cli(['profile', 'remove', 'default'])).err).toContain('docs/errors/profile-in-use.md');
    await cli(['profile', 'save', 'default'], shell(answering));
    expect((await cli(['answer', task, ask.id, 'yes'])).code).toBe(0);
    expect((await event(task, isClosed)).outcome).toMatchObject({ outcome: 'completed' });
    expect((await cli(['show', task, '--json'])).lines[0]).toMatchObject({ profile: 'default' });
  });

  it('an open task goes on with what is saved under its profile’s name', async () => {
    const first = await model(() => [command('while [ ! -e go ]; do sleep 0.1; done'), finish()]);
    const second = await model(completes);
    await cli(['profile', 'save', 'work'], shell(first));
    const { task, workspace } = await begin(['--profile', 'work'], shell(second));
    await first.until((requests) => requests.length === 1);
    await cli(['profile', 'save', 'work'], shell(second));
    writeFileSync(join(workspace, 'go'), '');
    expect((await event(task, isClosed)).outcome).toMatchObject({ outcome: 'completed' });
    expect(first.requests).toHaveLength(1);
    expect(second.requests).toHaveLength(1);
    expect((await journal.getTask(task))?.profile).toBe('work');
  });

  it('`answer --profile` moves a task whose profile was removed', async () => {
    const answering = await model(completes);
    await cli(['profile', 'save', 'bad'], shell(answering, 'sk-wrong-0123456789'));
    await cli(['profile', 'save', 'good'], shell(answering));
    const { task } = await begin([], { LONGHAUL_PROFILE: 'bad' });
    const { ask } = await event(task, isAsk);
    expect((await cli(['profile', 'remove', 'bad', '--force'])).code).toBe(0);
    const unknown = await cli(['answer', task, ask.id, 'yes', '--profile', 'absent']);
    expect(unknown.err).toContain('docs/errors/profile-unknown.md');
    expect((await cli(['answer', task, ask.id, 'yes', '--profile', 'good'])).code).toBe(0);
    expect((await event(task, isClosed)).outcome).toMatchObject({ outcome: 'completed' });
    await until(async () => (await journal.getTask(task))?.profile === 'good');
  });

  it('a key that a provider repeats is hidden, also one that came later', async () => {
    const echo = createServer((req, res) => {
      const message = `no such key: ${String(req.headers.authorization?.replace('Bearer ', '') ?? req.headers['x-api-key'])}`;
      res.writeHead(401, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ type: 'error', error: { type: 'authentication_error', message } }));
    });
    await new Promise<void>((done) => echo.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
    const save = (key: string) => cli(['profile', 'save', 'echo'], { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key });
    await save('sk-first-0123456789');
    const { task } = await begin(['--profile', 'echo']);
    const { ask } = await event(task, isAsk);
    await save('sk-later-0123456789');
    await cli(['answer', task, ask.id, 'yes']);
    const asked = async () => (await events(task)).filter(isAsk);
    await until(async () => (await asked()).length === 2);
    expect((await asked()).map((one) => one.ask.question.includes('no such key: [hidden]'))).toEqual([true, true]);
    expect(JSON.stringify(await events(task))).not.toMatch(/sk-(first|later)/);
    await cli(['abort', task, '--force']);
    echo.close();
  });

  it('a closed task whose profile is gone goes on with the shell’s settings, and without any it is said what is missing', async () => {
    const answering = await model(completes);
    const { task } = await begin([], shell(answering));
    await event(task, isClosed);
    const { profile } = (await journal.getTask(task))!;
    expect(profile).toMatch(/^p-[0-9a-f]{12}$/);
    expect((await cli(['profile', 'remove', profile!])).code).toBe(0);
    await cli(['profile', 'remove', 'default']);
    const refused = await cli(['send', task, 'Go on.']);
    expect(refused.err).toContain(`"${profile}"`);
    expect(refused.err).toContain('docs/errors/no-api-key.md');
    expect((await journal.getTask(task))?.status).toBe('completed');
    expect((await cli(['send', task, 'Go on.'], { LONGHAUL_PROFILE: 'good' })).code).toBe(0);
    await until(async () => (await events(task)).filter(isClosed).length === 2);
    expect((await journal.getTask(task))?.profile).toBe('good');
  });

  it('when the service goes down, its open tasks are without a worker at once', async () => {
    const answering = await model(() => [command('sleep 600'), finish()]);
    const { task } = await begin([], shell(answering));
    await until(async () => (await events(task)).some((one) => one.type === 'say' && one.say === 'command'));
    const listed = () => cli(['tasks', '--json', '--limit', '1']);
    expect((await listed()).lines[0]).toMatchObject({ tasks: [{ task, status: 'running' }] });
    await cli(['down']);
    expect((await listed()).lines[0]).toMatchObject({ tasks: [{ task, status: 'no_worker' }] });
    expect((await cli(['show', task])).out).toMatch(/no_worker \(no worker is alive: start one with .* up\)/);
    const { out } = await cli(['abort', task, '--force']);
    expect(out).toContain('its workflow was terminated');
    expect((await journal.getTask(task))?.status).toBe('cancelled');
  });
});
