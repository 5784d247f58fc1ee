import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CALL, said, TASK, type TestHome, TURN, testHome, testIo, USAGE } from '../../test/support/cli.js';
import { startFollowing, until } from '../../test/support/following.js';

let home: TestHome;
beforeEach(async () => {
  home = await testHome();
  await home.journal.renewLease({ host: 'h', queue: 'longhaul', pid: 1 }, 60_000);
});
afterEach(() => home.remove());

const start = (options: Parameters<typeof startFollowing>[1] = {}) => startFollowing(home, options);

describe('JSON lines', () => {
  it('are the events in order and one outcome at the end', async () => {
    await home.log(said.status('running'), said.request(), said.text('Hello'));
    const { io, code } = start({ json: true });
    await until(() => io.lines().length === 3);
    await home.journal.addPartial({
      task: TASK,
      turn: TURN,
      stream: CALL,
      attempt: 1,
      kind: 'text',
      offset: 0,
      text: 'mo',
    });
    await until(() => io.lines().length === 4);
    await home.log(said.completed('All done'));
    expect(await code).toBe(0);
    const lines = io.lines();
    expect(lines.map((line) => line.type)).toEqual(['status', 'say', 'say', 'partial', 'closed', 'outcome']);
    expect(lines.filter((line) => 'seq' in line).map((line) => line.seq)).toEqual([1, 2, 3, 4]);
    expect(lines.every((line) => line.v === 1 && line.task === TASK)).toBe(true);
    expect(lines[2]).toMatchObject({ say: 'text', text: 'Hello', at: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(lines[3]).toMatchObject({ kind: 'text', offset: 0, text: 'mo' });
    expect(lines[5]).toEqual({
      v: 1,
      type: 'outcome',
      task: TASK,
      outcome: 'completed',
      result: 'All done',
      turns: 2,
      usage: USAGE,
      cost: 0.0123,
    });
  });

  it('begin at --from, and still end with the outcome of a task that is over', async () => {
    await home.log(said.status('running'), said.request(), said.text('Hello'), said.ended('budget'));
    const { io, code } = start({ json: true, from: 3 });
    expect(await code).toBe(4);
    expect(io.lines().map((line) => line.seq)).toEqual([3, 4, undefined]);
    expect(io.lines().at(-1)).toMatchObject({ outcome: 'budget', limit: 'turns' });
  });

  it('keep control characters escaped', async () => {
    await home.log(said.text('\u001b[2J\u2028'), said.ended('failed'));
    const { io, code } = start({ json: true });
    expect(await code).toBe(1);
    expect(io.text()).not.toContain('\u001b');
    expect(io.lines()[0]?.text).toBe('\u001b[2J\u2028');
  });
});

describe('an ask without a terminal', () => {
  it('ends the command with code 3 and says how to answer', async () => {
    await home.log(said.status('waiting'), said.ask('a1', 'command'));
    const { io, code } = start({ json: true });
    expect(await code).toBe(3);
    expect(io.lines().at(-1)).toMatchObject({
      outcome: 'needs_human',
      ask: 'a1',
      question: 'Question a1?',
      answer: { command: `longhaul answer ${TASK} a1 yes|no|"TEXT"`, json: '{"ask":"a1","answer":"yes"}' },
    });
  });

  it('does so in words for people', async () => {
    const { io, code } = start();
    await home.log(said.ask('a1', 'followup', { options: ['red', 'blue'] }));
    expect(await code).toBe(3);
    expect(io.text()).toContain('1. red');
    expect(io.text()).toContain(`Answer with:    longhaul answer ${TASK} a1 NUMBER|"TEXT"`);
  });

  it('passes over a wait that ends by itself, and one that was answered before', async () => {
    await home.log(said.ask('old', 'command'), said.answered('old'));
    const { io, code } = start({ json: true });
    const parked = {
      type: 'ask',
      ask: { id: 'p', kind: 'api_req_failed', question: 'Parked', opened: 1, deadline: 2, default: 'yes' },
      reply: '',
    } as const;
    await home.log(parked, said.completed('done'));
    expect(await code).toBe(0);
    expect(io.lines().at(-1)).toMatchObject({ outcome: 'completed' });
  });

  it('leaves at a wait that is long, and says when the task goes on; also at one whose end ends the task', async () => {
    const { io, code } = start({ json: true });
    const day = 24 * 3_600_000;
    await home.log(said.ask('p', 'api_req_failed', { deadline: day, default: 'yes' }));
    expect(await code).toBe(3);
    expect(io.lines().at(-1)).toMatchObject({ outcome: 'needs_human', ask: 'p', until: '1970-01-02T00:00:00.000Z' });
    const other = start({});
    await home.log(said.answered('p'), said.ask('q', 'api_req_failed', { deadline: 2, default: 'no' }));
    expect(await other.code).toBe(3);
  });

  it('waits when told to', async () => {
    const { code } = start({ onAsk: 'wait' });
    await home.log(said.ask('a1', 'command'));
    await home.log(said.answered('a1'), said.completed('done'));
    expect(await code).toBe(0);
  });

  it('takes the default when told to', async () => {
    const { end, code } = start({ onAsk: 'default' });
    await home.log(said.ask('a1', 'followup', { options: ['red', 'blue'] }));
    expect(await code).toBe(0);
    expect(end.answers).toMatchObject([{ ask: 'a1', answer: 'message', text: 'red', by: 'default' }]);
  });
});

describe('signals without a terminal', () => {
  it('SIGINT aborts the task and ends with 130', async () => {
    await home.log(said.status('running'));
    const { io, end, code } = start({ json: true });
    await until(() => io.lines().length === 1);
    io.signals.emit('SIGINT');
    io.signals.emit('SIGINT');
    expect(await code).toBe(130);
    expect(end.aborted()).toBe(1);
    expect(io.lines().at(-1)).toMatchObject({ type: 'outcome', outcome: 'cancelled' });
  });

  it('SIGTERM leaves the task alone, and says how to come back', async () => {
    const { io, end, code } = start();
    io.signals.emit('SIGTERM');
    expect(await code).toBe(143);
    expect(end.aborted()).toBe(0);
    expect(io.text()).toContain(`longhaul attach ${TASK}`);
  });
});

describe('at a terminal', () => {
  const terminal = () => testIo({ interactive: true });

  it('asks, shows a refusal, and asks again', async () => {
    const io = terminal();
    const { end, code } = start({ io, onAsk: 'prompt', refuse: 'That was not understood.' });
    await home.log(said.ask('a1', 'followup', { options: ['red', 'blue'] }));
    await until(() => io.text().includes('a number, or your own answer > '));
    io.stdin.write('2\r');
    await until(() => io.text().includes('That was not understood.'));
    io.stdin.write('1\r');
    expect(await code).toBe(0);
    expect(end.answers.map((answer) => answer.text)).toEqual(['blue', 'red']);
  });

  it('takes a pasted text of several lines as one answer', async () => {
    const io = terminal();
    const { end, code } = start({ io, onAsk: 'prompt' });
    await home.log(said.ask('a1', 'followup'));
    await until(() => io.text().includes('your answer > '));
    io.stdin.write('first\rsecond\r');
    expect(await code).toBe(0);
    expect(end.answers).toMatchObject([{ ask: 'a1', answer: 'message', text: 'first\nsecond' }]);
  });

  it('withdraws the question when it was answered elsewhere', async () => {
    const io = terminal();
    const { end, code } = start({ io, onAsk: 'prompt' });
    await home.log(said.ask('a1', 'command'), said.ask('a2', 'followup'));
    await until(() => io.text().includes('y = do it'));
    await home.log(said.answered('a1', 'elsewhere'));
    await until(() => io.text().includes('your answer > '));
    io.stdin.write('here\r');
    expect(await code).toBe(0);
    expect(io.text()).toContain('not done; the model gets the text: elsewhere');
    expect(end.answers).toMatchObject([{ ask: 'a2', answer: 'message', text: 'here' }]);
  });

  it('asks what Ctrl-C means, and goes on where it was', async () => {
    const io = terminal();
    const { end, code } = start({ io, onAsk: 'prompt' });
    await home.log(said.ask('a1', 'followup'));
    await until(() => io.text().includes('your answer > '));
    io.stdin.write('\u0003');
    await until(() => io.text().includes('detach or abort?'));
    io.stdin.write('no\r');
    await until(() => io.text().lastIndexOf('your answer > ') > io.text().lastIndexOf('detach or abort?'));
    io.stdin.write('\u0003');
    await until(() => io.text().split('detach or abort?').length > 2);
    io.stdin.write('d\r');
    expect(await code).toBe(0);
    expect(end.aborted()).toBe(0);
    expect(io.text()).toContain('The task goes on.');
  });

  it('offers no detaching where the task cannot go on alone, and aborts instead', async () => {
    const io = terminal();
    const { end, code } = start({ io, onAsk: 'prompt', detachable: false });
    await home.log(said.ask('a1', 'followup'));
    await until(() => io.text().includes('your answer > '));
    io.stdin.write('\u0003');
    await until(() => io.text().includes('abort?'));
    io.stdin.write('d\r');
    await until(() => io.text().lastIndexOf('your answer > ') > io.text().lastIndexOf('abort?'));
    expect(end.aborted()).toBe(0);
    io.stdin.end();
    expect(await code).toBe(130);
    expect(end.aborted()).toBe(1);
    expect(io.text()).not.toMatch(/detach|goes on\./);
  });

  it('asks again for a number that names no option', async () => {
    const io = terminal();
    const { end, code } = start({ io, onAsk: 'prompt' });
    await home.log(said.ask('a1', 'followup', { options: ['red', 'blue'] }));
    await until(() => io.text().includes('your own answer > '));
    io.stdin.write('3\r');
    await until(() => io.text().includes('There is no option 3'));
    io.stdin.write('2\r');
    expect(await code).toBe(0);
    expect(end.answers.map((answer) => answer.text)).toEqual(['blue']);
  });

  it('aborts at the second Ctrl-C', async () => {
    const io = terminal();
    const { end, code } = start({ io, onAsk: 'prompt' });
    await home.log(said.status('running'));
    io.signals.emit('SIGINT');
    await until(() => io.text().includes('detach or abort?'));
    io.stdin.write('\u0003');
    expect(await code).toBe(130);
    expect(end.aborted()).toBe(1);
  });
});
