import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerReader, type RawEvent, type ReaderOutput } from './answer-reader.js';

/** Arguments as a model may write them: all kinds of JSON, escaped in more ways than one, and what is no JSON. */
const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue()).map((value) => JSON.stringify(value));
const json = fc.oneof(
  object,
  object.map((source) =>
    source.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  ),
  fc.tuple(object, fc.nat(80)).map(([source, length]) => source.slice(0, length)),
  fc.constantFrom('', ' ', '[1]', 'null', '{"a":"\\H"}', '{"a":"b"c"}', '{"a":1}{"b":2}', `{"a":${'['.repeat(101)}`),
  fc.string({ unit: 'binary' }),
);
const anyText = fc.string({ unit: 'binary', maxLength: 60 });
/** The server's numbers of blocks: few, so that they are used again, also while the block before is open. */
const index = fc.nat(2);

/** Any events in any order, most of them of whole blocks. */
const anyEvents: fc.Arbitrary<RawEvent[]> = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.tuple(index, startOf()).chain(([at, start]) => blockEvents(at, start)) },
      {
        weight: 1,
        arbitrary: fc.tuple(index, startOf()).map(([at, content_block]) => [startEvent(at, content_block)]),
      },
      { weight: 1, arbitrary: fc.tuple(index, deltaOf()).map(([at, delta]) => [deltaEvent(at, delta)]) },
      { weight: 1, arbitrary: index.map((at): RawEvent[] => [{ type: 'content_block_stop', index: at }]) },
      { weight: 1, arbitrary: fc.constantFrom<RawEvent[]>([{ type: 'ping' }], [{ type: 'something_new', index: 0 }]) },
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.flat());

function startOf(): fc.Arbitrary<{ type: string; [field: string]: unknown }> {
  return fc.oneof(
    fc.record({ type: fc.constant('text'), text: fc.constantFrom('', ' ', 'So: ') }),
    fc.record({ type: fc.constant('thinking'), thinking: fc.constantFrom('', 'Hm'), signature: fc.constant('') }),
    fc.record({ type: fc.constant('redacted_thinking'), data: fc.base64String() }),
    fc.record({ type: fc.constant('tool_use'), id: fc.constant('x'), name: fc.string(), input: fc.object() }),
    fc.constant({ type: 'server_tool_use' }),
  );
}

function deltaOf(type?: string): fc.Arbitrary<Record<string, string> & { type: string }> {
  const of = {
    text: anyText.map((text) => ({ type: 'text_delta', text })),
    thinking: fc.oneof(
      anyText.map((thinking) => ({ type: 'thinking_delta', thinking })),
      fc.base64String().map((signature) => ({ type: 'signature_delta', signature })),
    ),
    tool_use: json.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  };
  return Object.entries(of).find(([name]) => name === type)?.[1] ?? fc.oneof(of.text, of.thinking, of.tool_use);
}

/** A block from its start to its stop. A call has its arguments in one event here, so that they may be valid. */
function blockEvents(at: number, start: { type: string }): fc.Arbitrary<RawEvent[]> {
  const most = start.type === 'tool_use' ? 1 : 3;
  return fc
    .array(deltaOf(start.type), { maxLength: most })
    .map((deltas) => [
      startEvent(at, start),
      ...deltas.map((delta) => deltaEvent(at, delta)),
      { type: 'content_block_stop', index: at },
    ]);
}

const startEvent = (at: number, content_block: object): RawEvent => ({
  type: 'content_block_start',
  index: at,
  content_block,
});
const deltaEvent = (at: number, delta: object): RawEvent => ({ type: 'content_block_delta', index: at, delta });

/** The same events, the texts of their deltas cut into pieces of these sizes in turn; a size of 0 is an empty piece. */
function cutEvents(events: RawEvent[], sizes: number[]): RawEvent[] {
  let turn = 0;
  return events.flatMap((event) => {
    if (event.type !== 'content_block_delta') return [event];
    const { type, ...rest } = event.delta as Record<string, string>;
    const [[field, text] = ['', '']] = Object.entries(rest);
    const pieces: RawEvent[] = [];
    for (let at = 0; at < text.length || pieces.length === 0; ) {
      const size = sizes[turn++ % sizes.length]!;
      pieces.push({ ...event, delta: { type, [field]: text.slice(at, at + size) } });
      at += size;
    }
    return pieces;
  });
}

/** Everything that was learned of an answer, apart from how its texts were cut. */
function learned(events: RawEvent[]) {
  const { reader, outputs } = readAll(events);
  const shown = new Map<string, string>();
  for (const one of outputs) {
    if (one.kind !== 'delta') continue;
    const key = `${one.block} ${one.of}`;
    const before = shown.get(key) ?? '';
    expect(one.offset).toBe(before.length);
    shown.set(key, before + one.text);
  }
  return {
    shown,
    others: outputs.filter(({ kind }) => kind !== 'delta'),
    unfinished: [reader.unfinishedText(), reader.unfinishedCalls()],
    received: reader.received,
  };
}

/** What a call's arguments are, judged by nothing but JSON itself. */
function argumentsOf(source: string): object {
  if (source.trim() === '') return { input: { given: true } };
  try {
    const value: unknown = JSON.parse(source);
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return { input: value };
  } catch {
    // told like any other value that is no object
  }
  return { input: {}, problem: { kind: 'bad_json', message: expect.any(String) } };
}

function readAll(events: RawEvent[]): { reader: AnswerReader; outputs: ReaderOutput[] } {
  const reader = new AnswerReader();
  return { reader, outputs: events.flatMap((event) => reader.read(event)) };
}

const blocksOf = (outputs: ReaderOutput[]) => outputs.flatMap((one) => (one.kind === 'block' ? [one.content] : []));

describe('AnswerReader, however an answer was cut', () => {
  it('learns the same from any events, sensible or not, however their texts were cut', () => {
    fc.assert(
      fc.property(anyEvents, fc.array(fc.nat(9), { minLength: 1, maxLength: 12 }), (events, sizes) => {
        fc.pre(sizes.some((size) => size > 0));
        expect(learned(cutEvents(events, sizes))).toEqual(learned(events));
      }),
      { numRuns: 500 },
    );
  });

  it('reads arguments as JSON does, or says that they are none', () => {
    fc.assert(
      fc.property(json, (source) => {
        const start = startEvent(0, { type: 'tool_use', id: 'x', name: 'f', input: { given: true } });
        const delta = deltaEvent(0, { type: 'input_json_delta', partial_json: source });
        const { outputs } = readAll([start, delta, { type: 'content_block_stop', index: 0 }]);
        expect(blocksOf(outputs)).toEqual([{ type: 'tool_use', name: 'f', block: 0, ...argumentsOf(source) }]);
      }),
      { numRuns: 300 },
    );
  });
});
