import { readFile } from 'node:fs/promises';
import { LonghaulError, messageOf } from '../domain/errors.js';
import { parseStep } from './script-line.js';
import { isContent, isEnd, type Step } from './steps.js';

/** The answers of one model in order, for conversations whose first user message matches; the first match counts. */
export interface Branch {
  match?: RegExp;
  turns: Step[][];
}

export interface Script {
  branches: Branch[];
}

/** More than any test needs; stops `repeat` from eating the memory. */
const MAX_STEPS = 200_000;

interface Line {
  number: number;
  text: string;
}

/** Puts steps into turns: a turn goes on to the first end without a number of strikes. */
export function script(...steps: Step[]): Script {
  const turns: Step[][] = [];
  let turn: Step[] = [];
  for (const step of steps) {
    turn.push(step);
    if (isEnd(step) && step.strikes === undefined) {
      turns.push(turn);
      turn = [];
    }
  }
  if (turn.length > 0) turns.push([...turn, { step: 'finish' }]);
  return { branches: [{ turns }] };
}

/** @throws LonghaulError `bad-script` when the file cannot be read or says something that is not a step */
export async function readScript(path: string): Promise<Script> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (err) {
    throw new LonghaulError('bad-script', `The script ${path} cannot be read: ${messageOf(err)}.`, {
      next: 'Give the path of a readable text file.',
      cause: err,
    });
  }
  return parseScript(text, path);
}

/**
 * Reads the text form (docs/fake-model.md).
 * @param name for messages
 * @throws LonghaulError `bad-script`, naming the line
 */
export function parseScript(text: string, name = 'script'): Script {
  const lines = expand(toLines(text), name);
  const reader = new Reader(name);
  for (const line of lines) reader.read(line);
  return reader.end((lines.at(-1)?.number ?? 0) + 1);
}

class Reader {
  private readonly branches: Branch[] = [];
  private branch: Branch = { turns: [] };
  private turn: Step[] = [];
  /** From an `id` line, for the call in the next one. */
  private id: { value: string; line: number } | undefined;

  constructor(private readonly name: string) {}

  read(line: Line): void {
    const [word, rest] = wordAndRest(line.text);
    switch (word) {
      case 'for':
        this.endBranch(line.number);
        this.branch = { match: readPattern(rest, line.number, this.name), turns: [] };
        return;
      case 'id':
        if (!/^[A-Za-z0-9_-]+$/.test(rest))
          throw this.bad(line.number, '"id" needs one id of letters, digits, _ and -');
        this.id = { value: rest, line: line.number };
        return;
      default:
        this.add(this.withId(this.readStep(word, rest, line.number)), line.number);
    }
  }

  end(line: number): Script {
    this.endBranch(line);
    if (this.branches.length === 0) {
      throw this.bad(line, 'there is no answer in it', 'Write at least one, such as "say Hello" and "finish".');
    }
    return { branches: this.branches };
  }

  private readStep(word: string, rest: string, line: number): Step {
    if (word !== 'half') return attempt(() => parseStep(word, rest), this.name, line);
    const step = attempt(() => parseStep(...wordAndRest(rest)), this.name, line);
    if ('text' in step || step.step === 'call' || step.step === 'callraw') return { ...step, half: true };
    throw this.bad(line, '"half" goes before say, think, call or callraw');
  }

  private withId(step: Step): Step {
    const { id } = this;
    if (id === undefined) return step;
    this.id = undefined;
    if (step.step === 'call' || step.step === 'callraw') return { ...step, id: id.value };
    throw this.bad(id.line, '"id" goes directly before call or callraw');
  }

  private add(step: Step, line: number): void {
    checkPlace(step, this.turn, this.name, line);
    this.turn.push(step);
    if (!isEnd(step) || step.strikes !== undefined) return;
    this.branch.turns.push(this.turn);
    this.turn = [];
  }

  private endBranch(line: number): void {
    if (this.turn.length > 0 || this.id) {
      throw this.bad(line, 'the answer before this has no end', 'End it with a line such as "finish".');
    }
    if (this.branch.turns.length > 0 || this.branch.match) this.branches.push(this.branch);
  }

  private bad(line: number, what: string, next?: string): LonghaulError {
    return bad(this.name, line, what, next);
  }
}

/** Steps that replace the whole answer cannot come after part of it. */
function checkPlace(step: Step, turn: Step[], name: string, line: number): void {
  if (step.step !== 'status' && step.step !== 'html' && step.step !== 'empty') return;
  if (turn.some((earlier) => isContent(earlier) || earlier.step === 'raw' || earlier.step === 'ping')) {
    throw bad(name, line, `"${step.step}" replaces the answer, so it has to come before everything else in it`);
  }
}

function toLines(text: string): Line[] {
  return text
    .split(/\r?\n/)
    .map((line, index) => ({ number: index + 1, text: line.trim() }))
    .filter((line) => line.text !== '' && !line.text.startsWith('#'));
}

/** Writes out `repeat N … end`; inside, `{{i}}` counts from 1. */
function expand(lines: Line[], name: string): Line[] {
  const out: Line[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as Line;
    if (line.text === 'end') throw bad(name, line.number, '"end" without "repeat"');
    const count = /^repeat(?:\s+(.*))?$/.exec(line.text);
    if (!count) {
      out.push(line);
      continue;
    }
    const times = /^\d{1,6}$/.test(count[1] ?? '') ? Number(count[1]) : 0;
    if (times < 1) throw bad(name, line.number, '"repeat" needs a number from 1 to 999999');
    const end = endOf(lines, at, name);
    const body = expand(lines.slice(at + 1, end), name);
    if (out.length + body.length * times > MAX_STEPS) throw bad(name, line.number, `more than ${MAX_STEPS} steps`);
    for (let i = 1; i <= times; i++) {
      for (const inner of body) out.push({ ...inner, text: inner.text.replaceAll('{{i}}', String(i)) });
    }
    at = end;
  }
  return out;
}

function endOf(lines: Line[], start: number, name: string): number {
  let depth = 0;
  for (let at = start; at < lines.length; at++) {
    const text = (lines[at] as Line).text;
    if (/^repeat(\s|$)/.test(text)) depth++;
    if (text === 'end' && --depth === 0) return at;
  }
  throw bad(name, (lines[start] as Line).number, '"repeat" has no "end"');
}

function readPattern(text: string, line: number, name: string): RegExp {
  const [, source, flags] = /^\/(.+)\/([imsu]*)$/.exec(text) ?? [];
  if (source === undefined) throw bad(name, line, '"for" needs a pattern such as /fix the bug/i');
  return attempt(() => new RegExp(source, flags), name, line);
}

function wordAndRest(text: string): [string, string] {
  const [, word = '', rest = ''] = /^(\S*)\s*(.*)$/.exec(text) ?? [];
  return [word, rest];
}

function attempt<T>(work: () => T, name: string, line: number): T {
  try {
    return work();
  } catch (err) {
    throw bad(name, line, messageOf(err));
  }
}

function bad(
  name: string,
  line: number,
  what: string,
  next = 'The steps are listed in docs/fake-model.md.',
): LonghaulError {
  return new LonghaulError('bad-script', `${name}, line ${line}: ${what}.`, { next });
}
