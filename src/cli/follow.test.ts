import { copyFile, rename } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CALL, said, TASK, type TestHome, type TestIo, TURN, testHome, testIo, USAGE } from '../../test/support/cli.js';
import type { Answer } from '../domain/asks.js';
import { LonghaulError } from '../domain/errors.js';
import { homePaths } from '../settings/paths.js';
import type { OnAsk } from './flags.js';
import { follow } from './follow.js';
import { HumanView } from './human-view.js';
import { JsonView } from './json-view.js';
import { StopSignals } from './signals.js';

let home: TestHome;
beforeEach(async () => {
  home = await testHome();
});
afterEach(() => home.remove());

/** What the other end does with answers and cancellation: it writes what a task would write. */
function taskEnd(refuse?: string, away = 0) {
  const answers: Answer[] = [];
  let aborts = 0;
  return {
    answers,
    aborted: () => aborts,
    async answer(_task: string, answer: Answer) {
      if (away-- > 0) throw new LonghaulError('temporal-unreachable', 'Temporal does not answer.');
      if (refuse !== undefined && answers.length === 0) {
        answers.push(answer);
        throw new LonghaulError('ask-refused', refuse);
      }
      answers.push(answer);
      await home.log(said.answered(answer.ask ?? '', answer.text), said.completed('done'));
    },
    async abort() {
      if (away-- > 0) throw new LonghaulError('temporal-unreachable', 'Temporal does not answer.');
      aborts++;
      await home.log(said.ended('cancelled'));
    },
  };
}

interface Started {
  io: TestIo;
  end: ReturnType<typeof taskEnd>;
  code: Promise<number>;
}

function start(
  options: {
    json?: boolean;
    onAsk?: OnAsk | 'prompt';
    from?: number;
    io?: TestIo;
    refuse?: string;
    detachable?: boolean;
    /** Calls that fail because the server is away. */
    away?: number;
    answerForMs?: number;
    serviceRuns?: () => Promise<boolean>;
  } = {},
): Started {
  const io = options.io ?? testIo();
  const end = taskEnd(options.refuse, options.away);
  const view = options.json ? new JsonView(io) : new HumanView(io, home.journal, { howToAnswer: true });
  const signals = new StopSignals(io);
  const { from = 1, onAsk = 'exit', detachable = true, answerForMs, serviceRuns } = options;
  const optional = { ...(answerForMs === undefined ? {} : { answerForMs }), ...(serviceRuns && { serviceRuns }) };
  const { journal } = home;
  const code = follow({ io, journal, actions: end, view, signals, task: TASK, from, onAsk, detachable, ...optional });
  return { io, end, code: code.finally(() => signals.dispose()) };
}

async function until(check: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !check(); i++) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(check()).toBe(true);
}

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
      ask: { id: 'p', kind: 'api_req_failed', question: 'Parked', opened: 1, deadline: 2 },
      reply: '',
    } as const;
    await home.log(parked, said.completed('done'));
    expect(await code).toBe(0);
    expect(io.lines().at(-1)).toMatchObject({ outcome: 'completed' });
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
      `Your answer was not sent. Send it with: longhaul answer ${TASK} a1 yes --text quickly`,
    );
  });
});

describe('what happens around the task', () => {
  it('an abort is asked for again while the server is away', async () => {
    await home.log(said.status('running'));
    const { io, end, code } = start({ json: true, away: 1 });
    await until(() => io.lines().length === 1);
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

  it('says that the service was stopped, and that it is back', async () => {
    await home.log(said.status('running'));
    const { io, code } = start({ serviceRuns: async () => false });
    await until(() => io.text().includes('The service was stopped: the task goes on at the next `longhaul up`.'));
    await home.journal.renewLease({ host: 'h', queue: 'q', pid: 1 }, 60_000);
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
