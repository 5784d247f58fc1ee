import type { Readable } from 'node:stream';
import { cut } from '../domain/text.js';
import { decode1252 } from './text-file.js';

/** A line that ripgrep reports. */
export interface SearchEvent {
  path: string;
  line: number;
  text: string;
  match: boolean;
}

/** Longest part of a line that is kept, in characters, and how much of it stands before the match. */
const MAX_LINE_CHARS = 500;
const LEAD_CHARS = 100;
/** A record longer than this, from a file with an enormous line, is passed over. */
const MAX_RECORD_BYTES = 16 << 20;

/** ripgrep gives text as UTF-8, or, where it is not, its bytes in base64. */
type Data = { text: string } | { bytes: string };

interface RawRecord {
  type: string;
  data: { path: Data; lines: Data; line_number: number | null; submatches: { start: number }[] };
}

/** Reads the output of `rg --json`. */
export async function* readMatches(output: Readable): AsyncGenerator<SearchEvent> {
  for await (const line of linesOf(output)) {
    const record = JSON.parse(line) as RawRecord;
    if (record.type !== 'match' && record.type !== 'context') continue;
    const { path, lines, line_number, submatches } = record.data;
    const match = record.type === 'match';
    yield { path: textOf(path), line: line_number ?? 0, text: excerpt(lines, submatches[0]?.start ?? 0), match };
  }
}

async function* linesOf(output: Readable): AsyncGenerator<string> {
  let pending: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      if (bytes + end <= MAX_RECORD_BYTES) yield Buffer.concat([...pending, rest.subarray(0, end)]).toString('utf8');
      pending = [];
      bytes = 0;
      rest = rest.subarray(end + 1);
    }
    bytes += rest.length;
    if (bytes <= MAX_RECORD_BYTES) pending.push(rest);
    else pending = [];
  }
}

function textOf(data: Data): string {
  return 'text' in data ? data.text : decode1252(Buffer.from(data.bytes, 'base64'));
}

/** @param start byte offset of the first match in the line */
function excerpt(data: Data, start: number): string {
  const line = textOf(data).replace(/\r?\n$/, '');
  if (line.length <= MAX_LINE_CHARS) return line;
  const at = 'text' in data ? Buffer.from(line).subarray(0, start).toString('utf8').length : start;
  const from = Math.max(0, Math.min(at - LEAD_CHARS, line.length - MAX_LINE_CHARS));
  return (from > 0 ? '…' : '') + cut(line.slice(from), MAX_LINE_CHARS);
}
