import { copyFile, rename } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { said, TASK, type TestHome, testHome, testIo } from '../../test/support/cli.js';
import { startFollowing, until } from '../../test/support/following.js';
import { homePaths } from '../settings/paths.js';

let home: TestHome;
beforeEach(async () => {
  home = await testHome();
});
afterEach(() => home.remove());

const start = (options: Parameters<typeof startFollowing>[1] = {}) => startFollowing(home, options);

describe('an answer while the server is away', () => {
  const terminal = () => testIo({ interactive: true });

  it('tries an answer again while the server is away, under one id', async () => {
    const io = terminal();
    const { end, code } = start({ io, onAsk: 'prompt', away: 2 });
    await home.log(said.ask('a1', 'followup'));
    await until(() => io.text().includes('your answer > '));
    io.stdin.write('blue\r');
    expect(await code).toBe(0);
    expect(end.answers.map((answer) => answer.text)).toEqual(['blue']);
    expect(io.text().split('trying again').length).toBe(2);
  });

  it('keeps an answer that could not be sent, says how to give it later, and sends it again at Enter', async () => {
    const io = terminal();
    const { end, code } = start({ io, onAsk: 'prompt', away: 2, answerForMs: 500 });
    await home.log(said.ask('a1', 'followup'));
    await until(() => io.text().includes('your answer > '));
    io.stdin.write("it's blue\r");
    await until(() => io.text().includes('press Enter to send it again'));
    expect(io.text()).toContain(`longhaul answer ${TASK} a1 'it'\\''s blue'`);
    io.stdin.write('\r');
    expect(await code).toBe(0);
    expect(end.answers.map((answer) => answer.text)).toEqual(["it's blue"]);
  });

  it('says what was not sent when the person leaves', async () => {
    const io = terminal();
    const { code } = start({ io, onAsk: 'prompt', away: 99, answerForMs: 0 });
    await home.log(said.ask('a1', 'command'));
    await until(() => io.text().includes('y = do it'));
    io.stdin.write('y, quickly\r');
    await until(() => io.text().includes('It was not sent'));
    io.stdin.end();
    expect(await code).toBe(0);
    expect(io.text()).toContain(
      `Your answer was not sent. Send it with: \`longhaul answer ${TASK} a1 yes --text quickly\``,
    );
  });
});

describe('what happens around the task', () => {
  it('an abort is asked for again while the server is away', async () => {
    await home.log(said.status('running'));
    const { io, end, code } = start({ json: true, away: 1 });
    await until(() => io.lines().length > 0);
    io.signals.emit('SIGINT');
    expect(await code).toBe(130);
    expect(end.aborted()).toBe(1);
  });

  it('a default is not given while the service is stopped, and is when it is back', async () => {
    let runs = false;
    let looks = 0;
    const serviceRuns = async () => {
      looks++;
      return runs;
    };
    const { end, code } = start({ onAsk: 'default', serviceRuns });
    await home.log(said.ask('a1', 'followup', { options: ['red'] }));
    await until(() => looks > 1);
    expect(end.answers).toEqual([]);
    runs = true;
    expect(await code).toBe(0);
    expect(end.answers).toHaveLength(1);
  });

  it('says that the service is not running, and that it is back', async () => {
    await home.log(said.status('running'));
    const { io, code } = start({ serviceRuns: async () => false });
    await until(() =>
      io.text().includes('not running (stopped or killed): the task goes on at the next `longhaul up`.'),
    );
    await home.journal.renewLease({ host: 'h', queue: 'longhaul', pid: 1 }, 60_000);
    await until(() => io.text().includes('Back again, after'));
    await home.log(said.completed('done'));
    expect(await code).toBe(0);
  });

  it('says that no worker is there, in JSON too', async () => {
    await home.log(said.status('running'));
    const { io, code } = start({ json: true, serviceRuns: async () => true });
    await until(() => io.lines().some((line) => line.status === 'no_worker'));
    expect(io.lines().at(-1)).toMatchObject({
      type: 'status',
      reason: expect.stringMatching(/^No worker since .*up`\)\.$/),
    });
    await home.log(said.completed('done'));
    expect(await code).toBe(0);
  });

  it('ends with an error when the journal is replaced', async () => {
    await home.log(said.status('running'));
    const { code } = start();
    const ended = expect(code).rejects.toMatchObject({ slug: 'journal-lost' });
    const path = homePaths(home.home).journal;
    await rename(path, `${path}.old`);
    await copyFile(`${path}.old`, path);
    await ended;
  });
});
