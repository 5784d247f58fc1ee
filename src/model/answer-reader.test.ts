import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnswerBlock } from '../domain/blocks.js';
import { AnswerReader, type RawEvent, type ReaderOutput } from './answer-reader.js';

/** Events of an answer whose texts are cut where `cuts` says. */
function eventsOf(blocks: AnswerBlock[], cuts: number[]): RawEvent[] {
  const events: RawEvent[] = [
    { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 3, output_tokens: 1 } } },
  ];
  const pieces = (text: string) => {
    const at = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b);
    return [0, ...at].map((from, i) => text.slice(from, [...at, text.length][i]));
  };
  for (const [index, block] of blocks.entries()) {
    const delta = (fields: object) => events.push({ type: 'content_block_delta', index, delta: fields });
    const start = (fields: object) => events.push({ type: 'content_block_start', index, content_block: fields });
    if (block.type === 'text') {
      start({ type: 'text', text: '' });
      for (const text of pieces(block.text)) delta({ type: 'text_delta', text });
    } else if (block.type === 'thinking') {
      start({ type: 'thinking', thinking: '', signature: '' });
      for (const thinking of pieces(block.thinking)) delta({ type: 'thinking_delta', thinking });
      delta({ type: 'signature_delta', signature: block.signature });
    } else if (block.type === 'tool_use') {
      start({ type: 'tool_use', id: 'toolu_x', name: block.name, input: {} });
      for (const partial_json of pieces(JSON.stringify(block.input))) delta({ type: 'input_json_delta', partial_json });
    } else {
      start(block);
    }
    events.push({ type: 'content_block_stop', index });
  }
  events.push(
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 50 } },
    { type: 'message_stop' },
  );
  return events;
}

function readAll(events: RawEvent[]): { reader: AnswerReader; outputs: ReaderOutput[] } {
  const reader = new AnswerReader();
  return { reader, outputs: events.flatMap((event) => reader.read(event)) };
}

const blocksOf = (outputs: ReaderOutput[]) => outputs.flatMap((one) => (one.kind === 'block' ? [one.content] : []));

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((value) => value.trim() !== '');
const block: fc.Arbitrary<AnswerBlock> = fc.oneof(
  text.map((value): AnswerBlock => ({ type: 'text', text: value })),
  fc.record({ type: fc.constant('thinking' as const), thinking: fc.string(), signature: fc.string({ minLength: 1 }) }),
  fc.record({ type: fc.constant('redacted_thinking' as const), data: fc.string() }),
  fc.dictionary(fc.string(), fc.jsonValue()).map((value): AnswerBlock => {
    const input = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
    return { type: 'tool_use', name: 'read_file', input, block: 0 };
  }),
);

describe('AnswerReader', () => {
  it('gives the same blocks however the answer was cut', () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 6 }), fc.array(fc.nat(200), { maxLength: 8 }), (blocks, cuts) => {
        const numbered = blocks.map((one, at) => (one.type === 'tool_use' ? { ...one, block: at } : one));
        const { outputs } = readAll(eventsOf(numbered, cuts));
        expect(blocksOf(outputs)).toEqual(numbered);
      }),
    );
  });

  it('gives deltas that join to the block, each at its offset', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(60), { maxLength: 8 }), (value, cuts) => {
        const { outputs } = readAll(eventsOf([{ type: 'text', text: value }], cuts));
        let joined = '';
        for (const one of outputs) {
          if (one.kind !== 'delta') continue;
          expect(one.offset).toBe(joined.length);
          joined += one.text;
        }
        expect(joined).toBe(value);
      }),
    );
  });

  it('takes cumulative token counts as they are, not added up', () => {
    const { reader } = readAll([
      {
        type: 'message_start',
        message: {
          usage: {
            input_tokens: 9,
            cache_creation_input_tokens: 300,
            cache_read_input_tokens: 17_000,
            output_tokens: 1,
          },
        },
      },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 50 } },
    ]);
    expect(reader.usage).toEqual({ inputTokens: 9, outputTokens: 50, cacheWriteTokens: 300, cacheReadTokens: 17_000 });
  });

  it.each([
    ['an invalid escape', '{"regex":"\\H"}'],
    ['a stray quote', '{"a":"b"c"}'],
    ['an array', '[1]'],
    ['a cut object', '{"path":"a'],
  ])('keeps a call with %s as one that cannot run', (_name, json) => {
    const { outputs } = readAll([
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'x', name: 'search_files', input: {} },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: json } },
      { type: 'content_block_stop', index: 0 },
    ]);
    expect(blocksOf(outputs)).toMatchObject([{ type: 'tool_use', input: {}, problem: { kind: 'bad_json' } }]);
  });

  it('drops what the provider would refuse in the next request', () => {
    const blank: AnswerBlock[] = [
      { type: 'text', text: ' \n' },
      { type: 'thinking', thinking: 'hm', signature: '' },
    ];
    expect(blocksOf(readAll(eventsOf(blank, [])).outputs)).toEqual([]);
  });

  it('passes over events that make no sense', () => {
    const { outputs } = readAll([
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text: 'x' } },
      { type: 'content_block_start', index: -1, content_block: null },
      { type: 'content_block_start', index: 'a', content_block: { type: 'text', text: 'x' } },
      { type: 'message_delta' },
      { type: 'something_new' },
    ]);
    expect(outputs).toEqual([]);
  });

  it('knows what was cut', () => {
    const { reader } = readAll([
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'half an answ' } },
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: 'x', name: 'write_to_file', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'input_json_delta', partial_json: '{"path":"a","content":"<ht' },
      },
    ]);
    expect(reader.unfinishedText()).toEqual([{ block: 0, text: 'half an answ' }]);
    expect(reader.unfinishedCalls()).toMatchObject([
      { block: 1, content: { name: 'write_to_file', problem: { kind: 'truncated' } } },
    ]);
  });

  it('keeps apart blocks that the server gave the same index', () => {
    const text = (value: string) => [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: value } },
      { type: 'content_block_stop', index: 0 },
    ];
    const { outputs } = readAll([...text('one'), ...text('two')]);
    expect(outputs.flatMap((one) => (one.kind === 'block' ? [[one.block, one.content]] : []))).toEqual([
      [0, { type: 'text', text: 'one' }],
      [1, { type: 'text', text: 'two' }],
    ]);
  });

  it('refuses arguments that would exhaust the stack, and counts that no request has', () => {
    const { reader, outputs } = readAll([
      { type: 'message_start', message: { usage: { input_tokens: 1e308, output_tokens: 3 } } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'x', name: 'read_file', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}` },
      },
      { type: 'content_block_stop', index: 0 },
    ]);
    expect(blocksOf(outputs)).toMatchObject([{ input: {}, problem: { kind: 'bad_json' } }]);
    expect(reader.usage).toMatchObject({ inputTokens: 0, outputTokens: 3 });
    const strings = readAll([
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'x', name: 'f', input: {} } },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: JSON.stringify({ a: '"[\\'.repeat(500) }) },
      },
      { type: 'content_block_stop', index: 0 },
    ]);
    expect(blocksOf(strings.outputs)).toMatchObject([{ input: { a: '"[\\'.repeat(500) } }]);
  });
});
