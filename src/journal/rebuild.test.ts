import { expect, test } from 'vitest';
import { say, textOf, usageOf } from '../../test/support/journal.js';
import type { Partial, StoredEvent, TaskEvent } from '../domain/events.js';
import { type TailItem, Transcript } from './rebuild.js';

test('pieces are joined by offset; repeats and overlaps add nothing twice', () => {
  const transcript = new Transcript();
  expect(transcript.apply(piece(0, 'Hel'))).toEqual([{ append: 'Hel', stream: 'u:0', kind: 'text' }]);
  expect(transcript.apply(piece(0, 'Hel'))).toEqual([]);
  expect(transcript.apply(piece(2, 'llo'))).toEqual([{ append: 'lo', stream: 'u:0', kind: 'text' }]);
  expect(transcript.text('u:0')).toBe('Hello');
  const final = stored(1, textOf('u', 1, 0, 'Hello!'));
  expect(transcript.apply(final)).toEqual([{ final: final.event, stream: 'u:0', shown: 5, rest: '!' }]);
  expect(transcript.apply(final)).toEqual([]);
  expect(transcript.apply(piece(5, '!'))).toEqual([]);
  expect(transcript.seq).toBe(1);
});

test('half a character waits for its other half', () => {
  const transcript = new Transcript();
  expect(transcript.apply(piece(0, 'a\ud83d'))).toMatchObject([{ append: 'a' }]);
  expect(transcript.apply(piece(2, '\ude00'))).toMatchObject([{ append: '\u{1f600}' }]);
});

test('after a gap nothing is shown until the final event gives the whole', () => {
  const transcript = new Transcript();
  transcript.apply(piece(0, 'one '));
  expect(transcript.apply(piece(8, 'three'))).toEqual([]);
  expect(transcript.apply(piece(4, 'two '))).toEqual([]);
  const final = stored(1, textOf('u', 1, 0, 'one two three'));
  expect(transcript.apply(final)).toMatchObject([{ shown: 4, rest: 'two three' }]);
});

test('what a call says is shown whole, whatever has arrived of its arguments', () => {
  const transcript = new Transcript();
  transcript.apply({ partial: { ...piece(0, '{"response":"Now').partial, kind: 'tool_input' } });
  const final = stored(1, textOf('u', 1, 0, 'Now the tests.'));
  expect(transcript.apply(final)).toMatchObject([{ shown: 0, rest: 'Now the tests.' }]);
  expect(transcript.apply({ partial: { ...piece(16, ' the').partial, kind: 'tool_input' } })).toEqual([]);
});

test('a retracted attempt is taken back, final text and all, and stays away', () => {
  const transcript = new Transcript();
  transcript.apply(stored(1, textOf('u', 1, 0, 'done')));
  transcript.apply({ partial: { ...piece(0, 'half').partial, stream: 'u:1', kind: 'reasoning' } });
  transcript.apply({ partial: { ...piece(0, 'out').partial, stream: 'u:7:out', kind: 'command_output' } });
  const retract = stored(2, { type: 'retract', turn: 'u', attempt: 1, reason: 'cut' });
  const gone = [
    { stream: 'u:0', kind: 'text', text: 'done' },
    { stream: 'u:1', kind: 'reasoning', text: 'half' },
  ];
  expect(transcript.apply(retract)).toEqual([{ retracted: gone, by: retract.event }]);
  expect(transcript.apply(piece(0, 'zombie'))).toEqual([]);
  expect(transcript.apply({ partial: { ...piece(0, 'new').partial, attempt: 2 } })).toMatchObject([{ append: 'new' }]);
  expect(transcript.text('u:7:out')).toBe('out');
});

test('what was still arriving when its turn closed is taken back', () => {
  const transcript = new Transcript();
  transcript.apply(piece(0, 'cut of'));
  const { usage, cost } = usageOf('u', 1);
  const closed = stored(1, {
    type: 'say',
    say: 'api_req_finished',
    turn: 'u',
    attempt: 1,
    stop: 'end_turn',
    usage,
    cost,
  });
  expect(transcript.apply(closed)).toEqual([
    { retracted: [{ stream: 'u:0', kind: 'text', text: 'cut of' }], by: closed.event },
    { final: closed.event },
  ]);
  expect(transcript.apply(piece(6, 'f'))).toEqual([]);
});

test('a newer execution of a command starts its output anew; the result ends it', () => {
  const transcript = new Transcript();
  const out = { ...piece(0, 'first').partial, stream: 'u:0:out', kind: 'command_output' as const };
  transcript.apply({ partial: out });
  expect(transcript.apply({ partial: { ...out, attempt: 2, text: 'second' } })).toEqual([
    { retracted: [{ stream: 'u:0:out', kind: 'command_output', text: 'first' }] },
    { append: 'second', stream: 'u:0:out', kind: 'command_output' },
  ]);
  expect(transcript.apply({ partial: { ...out, offset: 5, text: 'old' } })).toEqual([]);
  const said = { type: 'say' as const, say: 'command_output' as const, call: 'u:0', tool: 'execute_command' };
  const result = stored(1, { ...said, status: 'done', text: '… bounded', ms: 1 });
  expect(transcript.apply(result)).toEqual([{ final: result.event, stream: 'u:0:out', shown: 6 }]);
  expect(transcript.apply({ partial: { ...out, attempt: 3 } })).toEqual([]);
});

test('a reader that starts later skips what it has had', () => {
  const transcript = new Transcript(5);
  expect(transcript.apply(stored(5, say('old')))).toEqual([]);
  const fresh = stored(6, say('new'));
  expect(transcript.apply(fresh)).toEqual([{ final: fresh.event }]);
});

function piece(offset: number, text: string): { partial: Partial } {
  return { partial: { task: 't', turn: 'u', stream: 'u:0', attempt: 1, kind: 'text', offset, text } };
}

function stored(seq: number, event: TaskEvent): TailItem & { event: StoredEvent } {
  return { event: { task: 't', seq, at: 0, event } };
}
