import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CALL, said, TASK, type TestHome, TURN, testHome, testIo } from '../../test/support/cli.js';
import type { Partial as Piece, TaskEvent } from '../domain/events.js';
import { callKey } from '../domain/ids.js';
import { HumanView, type ViewOptions } from './human-view.js';
import type { Io } from './io.js';

let home: TestHome;
beforeEach(async () => {
  home = await testHome();
});
afterEach(() => home.remove());

/** Shows events and pieces in the order given. */
async function shown(
  items: (TaskEvent | Piece)[],
  more: Partial<Io> = {},
  options: ViewOptions = { howToAnswer: true },
): Promise<string> {
  const io = testIo(more);
  const view = new HumanView(io, home.journal, options);
  let seq = 0;
  for (const item of items) {
    if ('type' in item) await view.event({ task: TASK, seq: ++seq, at: 1000 * seq, event: item });
    else await view.partial(item);
  }
  return io.text();
}

const piece = (offset: number, text: string, more: Partial<Piece> = {}): Piece => ({
  task: TASK,
  turn: TURN,
  stream: callKey(TURN, 0),
  attempt: 1,
  kind: 'text',
  offset,
  text,
  ...more,
});

describe('the account for people', () => {
  it('shows a text once, whether it was watched or read afterwards', async () => {
    const late = await shown([said.request(), said.text('I will look.\nThen fix.')]);
    const live = await shown([
      said.request(),
      piece(0, 'I will '),
      piece(0, 'I will '),
      piece(7, 'look.\nThen'),
      said.text('I will look.\nThen fix.'),
    ]);
    expect(live).toBe(late);
    expect(late).toBe('turn 1\nI will look.\nThen fix.\n');
  });

  it('names what was attached, and says that an ask is still open', async () => {
    const blob = { blob: 'a'.repeat(64), bytes: 1 };
    const text = await shown(
      [
        { type: 'say', say: 'user_feedback', text: 'See.', attachments: [{ kind: 'file', name: 'a\nb.md', blob }] },
        said.ask('ask-1', 'command', { deadline: 90_000, default: 'no', remindMs: 30_000 }),
        { type: 'ask_reminder', ask: 'ask-1', count: 2 },
      ],
      {},
      {},
    );
    expect(text).toContain('> See.\n> [file: a b.md]\n');
    expect(text).toMatch(/open until .*, then "no" is taken\n {2}a reminder every 30\.0 s|a reminder every 30 s/);
    expect(text).toContain('still waiting for an answer (reminder 2): Question ask-1?');
  });

  it('says that a retracted attempt is void and shows the next one', async () => {
    const text = await shown([
      said.request(),
      piece(0, 'First tr'),
      { type: 'retract', turn: TURN, attempt: 1, reason: 'the connection was cut' },
      said.request(2),
      piece(0, 'Second', { attempt: 2 }),
      said.text('Second', 2),
    ]);
    expect(text.split('\n')).toEqual([
      'turn 1',
      'First tr',
      '  (this answer is void and begins again: the connection was cut)',
      'turn 1, try 2',
      'Second',
      '',
    ]);
  });

  it('gives a tool call one line with how it ended', async () => {
    expect(await shown([said.tool('read_file', 'read_file src/a.ts'), said.toolResult('done', 'content')])).toBe(
      '  ✓ read_file src/a.ts  12 ms\n',
    );
    expect(await shown([said.tool('read_file', 'read_file b'), said.toolResult('error', 'no such\nfile')])).toBe(
      '  ✗ read_file b  no such file\n',
    );
  });

  it('shows the output of a command as it arrives, and bounds it', async () => {
    const out = (offset: number, text: string) =>
      piece(offset, text, { stream: `${CALL}:out`, kind: 'command_output' });
    const result = (output: string) => said.output(`The command finished with exit code 0.\nOutput:\n${output}`);
    const whole = ['$ npm test', '  │ ok 1', '  │ ok 2', '  → The command finished with exit code 0.  1.5 s', ''];
    const watched = [
      [out(0, 'ok 1\nok'), out(7, ' 2\n'), result('ok 1\nok 2')],
      [out(0, 'ok 1\nok'), result('ok 1\nok 2')],
      [out(0, 'ok 1\n'), result('ok 1\nok 2')],
      [result('ok 1\nok 2\n')],
    ];
    for (const items of watched) {
      expect((await shown([said.command('execute_command npm test'), ...items])).split('\n')).toEqual(whole);
    }
    const lines = `${Array.from({ length: 1000 }, (_, i) => `line ${i}`).join('\n')}\n`;
    for (const items of [
      [result(lines)],
      [out(0, lines), result(lines)],
      [out(0, lines.slice(0, 900)), result(lines)],
    ]) {
      const text = await shown([said.command('seq'), ...items]);
      expect(text.split('\n').length).toBeLessThan(80);
      expect(text).toContain('line 0\n');
      expect(text).toContain('line 999\n');
    }
    const silent = said.output('The command finished with exit code 0.\nIt printed nothing.');
    expect(await shown([said.command('true'), silent])).toContain(
      '→ The command finished with exit code 0. It printed',
    );
  });

  it('lets nothing of the model or a tool act on the terminal', async () => {
    const evil = '\u001b]0;title\u0007\u001b[2Jx\u009b1mA\rB\u202e';
    const text = await shown([
      { type: 'say', say: 'task', text: evil, workspace: '/w', model: 'm' },
      said.text(evil),
      said.tool(evil, evil),
      said.toolResult('error', evil),
      said.command(evil),
      piece(0, evil, { stream: `${CALL}:out`, kind: 'command_output' }),
      said.output(evil),
      said.ask('a', 'followup', { question: evil, options: [evil], detail: { text: evil } }),
      said.answered('a', evil),
      { type: 'say', say: 'error', slug: 'internal', text: evil },
      { type: 'say', say: 'info', text: evil },
      { type: 'say', say: 'completion_result', text: evil },
      { type: 'retract', turn: TURN, attempt: 1, reason: evil },
      { type: 'status', status: 'parked', reason: evil },
      said.completed(evil),
    ]);
    expect(text).not.toMatch(/[^\P{Cc}\n\t]|\u202e/u);
  });

  it('colours a diff for a terminal, and has no escape without one', async () => {
    const detail = { text: '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n' };
    const ask = said.ask('a1', 'tool', { detail });
    expect(await shown([ask], { colour: true })).toContain('\u001b[32m+new\u001b[0m');
    const plain = await shown([ask]);
    expect(plain).not.toContain('\u001b');
    expect(plain).toContain(`answer with: longhaul answer ${TASK} a1 yes|no|"TEXT"`);
  });

  it('shows the todo list when it has changed', async () => {
    const list = (text: string, done: number): TaskEvent => ({
      type: 'say',
      say: 'task_progress',
      text,
      done,
      total: 2,
    });
    const first = list('- [x] look\n- [ ] mend', 1);
    const text = await shown([first, first, list('- [x] look\n- [x] mend', 2)]);
    expect(text.split('\n')).toEqual([
      '  todo list: 1/2 done',
      '  ✓ look',
      '  ○ mend',
      '  todo list: 2/2 done',
      '  ✓ look',
      '  ✓ mend',
      '',
    ]);
  });

  it('says how a refused key is mended, and only that', async () => {
    const failed = (kind: string) =>
      said.ask('a1', 'api_req_failed', { question: `The model request failed (${kind}): no.` });
    expect(await shown([failed('auth')])).toContain(`longhaul answer ${TASK} a1 yes --profile NAME`);
    expect(await shown([failed('bad_request')])).not.toContain('--profile');
  });

  it('shows the whole of a long question once', async () => {
    const text = await shown([
      said.ask('a1', 'followup', { detail: { text: 'Question a1? And\nmuch more.' }, options: ['x'] }),
    ]);
    expect(text.split('\n').slice(0, 4)).toEqual(['', '? Question a1? And', 'much more.', '  1. x']);
  });

  it('says when nothing would change, and when a file would be empty', async () => {
    const edit = (from: string) => said.ask('a1', 'tool', { detail: { text: `--- ${from}\n+++ b/x\n` } });
    expect(await shown([edit('a/x')])).toContain('(no change)');
    expect(await shown([edit('/dev/null')])).toContain('(an empty file)');
  });

  it('has times in a log that is read afterwards, with the date where it is a new one', async () => {
    const events = [
      said.request(),
      said.command('execute_command true'),
      said.ask('a1', 'followup'),
      said.answered('a1', 'x'),
    ];
    const lines = (await shown(events, {}, { times: true })).split('\n').filter((line) => line !== '');
    expect(lines[0]).toMatch(/^turn 1 {2}\d{4}-\d\d-\d\d \d\d:\d\d:01$/);
    expect(lines.slice(1).every((line, i) => new RegExp(`[^-] \\d\\d:\\d\\d:0${i + 2}$`).test(line))).toBe(true);
    expect(await shown(events)).not.toMatch(/\d\d:\d\d:\d\d/);
  });

  it('ends with the result and the sums', async () => {
    const text = await shown([
      said.status('running'),
      { type: 'say', say: 'completion_result', text: 'It works.' },
      said.completed('It works.'),
    ]);
    expect(text).toBe('\nIt works.\n\ncompleted · 2 turns · 1,200 tokens in, 34 out · $0.0123 · 2.0 s\n');
  });
});
