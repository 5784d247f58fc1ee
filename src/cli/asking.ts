import type { Answer, Ask } from '../domain/asks.js';
import type { AskEvent } from '../domain/events.js';
import type { Journal } from '../journal/journal.js';
import type { Paint } from './io.js';
import { neutralise, neutralLine } from './neutral.js';
import { count } from './text.js';
import type { HowToAnswer } from './view.js';

/** Lines of a diff or command shown with an ask; `longhaul show` has all of it. */
const DETAIL_LINES = 300;

/** What a followup without options gets when nobody is there. */
const NOBODY = 'Nobody is here to answer. Decide yourself, and say in your result what you assumed.';

/** An ask as people read it: the question, what it is about, its options, how to answer. */
export async function askLines(
  event: AskEvent,
  task: string,
  journal: Pick<Journal, 'getText'>,
  paint: Paint,
  howTo: boolean,
  maxLines = DETAIL_LINES,
): Promise<string[]> {
  const { ask } = event;
  const detail = ask.detail && (await journal.getText(ask.detail));
  // the detail of a long question is the whole of it
  const whole = ask.kind === 'followup' && detail !== undefined;
  const lines = ['', ...(whole ? neutralise(detail).trimEnd() : neutralLine(ask.question)).split('\n')];
  lines[1] = paint('bold', `? ${lines[1]}`);
  if (detail !== undefined && !whole) lines.push(...detailLines(detail, ask, paint, maxLines));
  for (const [i, option] of (ask.options ?? []).entries()) lines.push(`  ${i + 1}. ${neutralLine(option)}`);
  if (ask.deadline !== undefined) {
    const then = ask.default === undefined ? '' : `, then "${ask.default}" is taken`;
    lines.push(paint('dim', `  open until ${new Date(ask.deadline).toLocaleString()}${then}`));
  }
  if (!howTo) return lines;
  const { command, json } = howToAnswer(event, task);
  return [
    ...lines,
    paint('dim', `  answer with: ${command}`),
    paint('dim', `  or in Temporal's UI, update "answer": ${json}`),
  ];
}

/** The command and the JSON that answer an ask. */
export function howToAnswer({ ask, reply }: AskEvent, task: string): HowToAnswer {
  const answers = ask.kind === 'followup' ? '"TEXT"' : 'yes|no|"TEXT"';
  return { command: `longhaul answer ${task} ${ask.id} ${answers}`, json: reply };
}

/** A wait that ends by itself is nothing a person has to see to. */
export function needsPerson(ask: Ask): boolean {
  return !(ask.kind === 'api_req_failed' && ask.deadline !== undefined);
}

/** What `--on-ask default` answers; undefined: the ask settles itself at its deadline. */
export function defaultAnswer(ask: Ask): Answer | undefined {
  if (!needsPerson(ask)) return undefined;
  switch (ask.kind) {
    case 'followup':
      return { ask: ask.id, answer: 'message', text: ask.options?.[0] ?? NOBODY };
    case 'tool':
    case 'command':
    case 'mistake_limit_reached':
    case 'api_req_failed':
      return { ask: ask.id, answer: ask.default ?? 'no' };
  }
}

/** What to type, for the prompt. */
export function choicesOf(ask: Ask): string {
  switch (ask.kind) {
    case 'followup':
      return ask.options?.length ? 'a number, or your own answer' : 'your answer';
    case 'tool':
    case 'command':
      return 'y = do it, n = do not, or type what to do instead';
    case 'mistake_limit_reached':
      return 'y = go on, n = end the task, or type guidance';
    case 'api_req_failed':
      return 'y = try again, n = end the task, or type words for the model';
  }
}

/** Reads what a person typed at the prompt. @returns a text when it cannot be an answer to this ask */
export function readTyped(ask: Ask, typed: string): Answer | string {
  const text = typed.trim();
  if (text === '') return `Please type ${choicesOf(ask)}.`;
  if (ask.kind === 'followup') {
    const option = /^\d+$/.test(text) ? ask.options?.[Number(text) - 1] : undefined;
    return { ask: ask.id, answer: 'message', text: option ?? text };
  }
  const button = /^(y|yes|n|no)(?:\s*[,:]\s*(.+))?$/is.exec(text);
  if (button) {
    const answer = button[1]?.toLowerCase().startsWith('y') ? 'yes' : 'no';
    return { ask: ask.id, answer, ...(button[2] ? { text: button[2] } : {}) };
  }
  return { ask: ask.id, answer: 'message', text };
}

function detailLines(detail: string, ask: Ask, paint: Paint, maxLines: number): string[] {
  const all = neutralise(detail).trimEnd().split('\n');
  const shown = all.slice(0, maxLines).map((line) => `  ${ask.kind === 'tool' ? paintDiff(line, paint) : line}`);
  if (all.length <= maxLines) return shown;
  return [...shown, paint('dim', `  … ${count(all.length - maxLines, 'more line')}: longhaul show has all of it`)];
}

function paintDiff(line: string, paint: Paint): string {
  if (/^(\+\+\+|---) /.test(line)) return paint('bold', line);
  if (line.startsWith('+')) return paint('green', line);
  if (line.startsWith('-')) return paint('red', line);
  return line.startsWith('@@') ? paint('cyan', line) : line;
}
