import { AnswerReader, type AnswerSource, type RawEvent } from '../src/model/answer-reader.js';
import { TextProtocolReader } from '../src/model/text-protocol/reader.js';
import { textGrammar } from '../src/tools/text-tools.js';
import { type BenchOptions, progress } from './support/options.js';
import { type Aim, check, type Report } from './support/report.js';

export const about =
  'reading an answer that arrives in pieces of 16 characters, next to reading all of it again for each';

const CHUNK = 16;
const SIZES = [10_000, 100_000, 1_000_000, 5_000_000];
/** Reading it all again takes time with the square of the size: measured up to here. */
const MOST_AGAIN = 100_000;
/** Characters read for one figure, so that small answers are read often enough. */
const WORK = 20_000_000;

type Protocol = 'native' | 'text';
const PROTOCOLS: readonly Protocol[] = ['native', 'text'];
const newReader = (protocol: Protocol): AnswerSource =>
  protocol === 'native' ? new AnswerReader() : new TextProtocolReader(textGrammar());

/** MB/s of each answer size. */
type Speeds = Map<number, number>;

export async function run(options: BenchOptions): Promise<Report> {
  const sizes = options.quick ? [10_000, 100_000] : SIZES;
  const rounds = options.rounds ?? (options.quick ? 1 : 9);
  const rows: (string | number)[][] = [];
  const aims: Aim[] = [];
  for (const protocol of PROTOCOLS) {
    const speeds = speedsOf(protocol, sizes, rounds, options.quick ? Math.max(...sizes) : WORK);
    for (const [size, speed] of speeds) {
      const again =
        size <= MOST_AGAIN ? size / 1e6 / secondsOf(() => readAgain(protocol, answerOf(protocol, size))) : Number.NaN;
      progress(`${protocol}, ${size / 1000} KB: ${speed.toFixed(0)} MB/s`);
      rows.push([`${protocol}, ${size / 1000} KB`, speed, again, speed / again]);
    }
    aims.push(...aimsOf(protocol, speeds));
  }
  const columns = ['', 'MB/s', 'read again each time', 'ratio'];
  return { aims, tables: [{ title: `Answers in pieces of ${CHUNK} characters`, columns, rows }], notes: NOTES };
}

/**
 * The best of all rounds. Each round measures every size, so that what else the machine does meets all of them; the one
 * before the first is not counted.
 */
function speedsOf(protocol: Protocol, sizes: readonly number[], rounds: number, work: number): Speeds {
  const answers = new Map(sizes.map((size) => [size, answerOf(protocol, size)]));
  const speeds: Speeds = new Map();
  for (let round = 0; round <= rounds; round++) {
    for (const [size, answer] of answers) {
      const speed = speedOf(protocol, answer, work);
      if (round > 0) speeds.set(size, Math.max(speed, speeds.get(size) ?? 0));
    }
  }
  return speeds;
}

/**
 * An answer that writes one file: `head`, so often `body`, `tail`. The body fits into the processor's cache, as what a
 * stream has just brought does; the events of its pieces are made as they are read.
 */
interface Answer {
  block: object;
  delta: (piece: string) => object;
  head: string;
  body: string;
  times: number;
  tail: string;
}

const LINE = 'const text = "a line of code, with a <tag> and a \\"quote\\" in it";\n';

function answerOf(protocol: Protocol, size: number): Answer {
  // so many lines that their length is a multiple of a piece's, escaped or not
  const lines = LINE.repeat(CHUNK);
  const times = Math.round(size / lines.length);
  if (protocol === 'native') {
    return {
      block: { type: 'tool_use', id: 'toolu_1', name: 'write_to_file', input: {} },
      delta: (piece) => ({ type: 'input_json_delta', partial_json: piece }),
      head: '{"path":"a.ts","content":"',
      body: JSON.stringify(lines).slice(1, -1),
      times,
      tail: '"}',
    };
  }
  return {
    block: { type: 'text', text: '' },
    delta: (piece) => ({ type: 'text_delta', text: piece }),
    head: 'I write it.\n<write_to_file>\n<path>a.ts</path>\n<content>\n',
    body: lines,
    times,
    tail: '</content>\n</write_to_file>',
  };
}

/** Characters of the answer. */
const lengthOf = ({ head, body, times, tail }: Answer) => head.length + times * body.length + tail.length;

/** @returns MB/s */
function speedOf(protocol: Protocol, answer: Answer, work: number): number {
  const times = Math.max(1, Math.round(work / lengthOf(answer)));
  const seconds = secondsOf(() => {
    for (let at = 0; at < times; at++) {
      const calls = read(newReader(protocol), answer, lengthOf(answer));
      check(calls === 1, `The answer has one call, not ${calls}.`);
    }
  });
  return (times * lengthOf(answer)) / 1e6 / seconds;
}

/**
 * Reads an answer, or its first `most` characters.
 * @returns the calls that were found
 */
function read(reader: AnswerSource, answer: Answer, most: number): number {
  const { block, delta, head, body, times, tail } = answer;
  let calls = 0;
  let left = most;
  const take = (event: RawEvent) => {
    for (const output of reader.read(event)) {
      if (output.kind === 'block' && output.content.type === 'tool_use' && !output.content.problem) calls++;
    }
  };
  const takeText = (text: string) => {
    for (let at = 0; at < text.length && left > 0; at += CHUNK) {
      const piece = text.slice(at, at + CHUNK);
      left -= piece.length;
      take({ type: 'content_block_delta', index: 0, delta: delta(piece) });
    }
  };
  take({ type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 1, output_tokens: 1 } } });
  take({ type: 'content_block_start', index: 0, content_block: block });
  takeText(head);
  for (let time = 0; time < times && left > 0; time++) takeText(body);
  takeText(tail);
  if (most < lengthOf(answer)) return calls;
  take({ type: 'content_block_stop', index: 0 });
  take({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } });
  take({ type: 'message_stop' });
  return calls;
}

/** What there is so far, from its beginning, whenever a piece has come. */
function readAgain(protocol: Protocol, answer: Answer): void {
  for (let end = CHUNK; end < lengthOf(answer); end += CHUNK) read(newReader(protocol), answer, end);
}

function secondsOf(act: () => void): number {
  const began = performance.now();
  act();
  return (performance.now() - began) / 1000;
}

function aimsOf(protocol: Protocol, speeds: Speeds): Aim[] {
  const large = [...speeds].filter(([size]) => size >= 100_000).map(([, speed]) => speed);
  const least = Math.min(...speeds.values());
  return [
    {
      aim: `${protocol}: at least 20 MB/s (time of a MB ≤ 50 ms)`,
      measured: 1000 / least,
      most: 50,
      unit: 'ms',
    },
    {
      aim: `${protocol}: time per byte flat within 20 % from 100 KB on`,
      measured: Math.max(...large) / Math.min(...large),
      most: 1.2,
      unit: '×',
    },
  ];
}

const NOTES = [
  'The answer is one call that writes a file; making the event of each piece is part of the figure. Each figure is the best of several rounds of some 20 MB; each round measures every size in turn, after one that is not counted.',
  'Reading all of it again for each piece is what a parser without memory does; it is measured up to 100 KB.',
];
