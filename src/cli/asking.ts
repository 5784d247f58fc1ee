import type { Answer, Ask, AskKind } from '../domain/asks.js';
import type { AskClosedEvent, AskEvent } from '../domain/events.js';
import type { Journal } from '../journal/journal.js';
import { quoted } from './called-as.js';
import { diffLines, shortened } from './diff-lines.js';
import { wrap } from './flow.js';
import { type Io, painter, textWidth } from './io.js';
import { neutralise, neutralLine } from './neutral.js';
import { markdownProse, rendered } from './prose.js';
import { dateTime, duration } from './text.js';
import { nearYesOrNo } from './typos.js';
import type { HowToAnswer } from './view.js';

/** Lines of a diff or command shown with an ask; `longhaul show` has all of it. */
const DETAIL_LINES = 120;

/** What a followup without options gets when nobody is there. */
const NOBODY = 'Nobody is here to answer. Decide yourself, and say in your result what you assumed.';

export interface AskLayout {
  io: Io;
  /** Say how it is answered. */
  howTo: boolean;
  /** Most lines of a diff or command. */
  maxLines?: number;
}

/** An ask as people read it: the question, what it is about, its options, how to answer. */
export async function askLines(
  event: AskEvent,
  task: string,
  journal: Pick<Journal, 'getText'>,
  layout: AskLayout,
): Promise<string[]> {
  const { io } = layout;
  const paint = painter(io.colour);
  const { ask } = event;
  const detail = ask.detail && (await journal.getText(ask.detail));
  // the detail of a long question is the whole of it
  const whole = isTalk(ask.kind) && detail !== undefined;
  const question = whole ? neutralise(detail) : neutralLine(ask.question);
  const lines = ['', ...questionLines(question, ask.kind, io)];
  if (detail !== undefined && !whole) lines.push(...detailLines(detail, task, ask, layout));
  for (const [i, option] of (ask.options ?? []).entries()) lines.push(`  ${i + 1}. ${neutralLine(option)}`);
  if (ask.deadline !== undefined) {
    const then = ask.default === undefined ? '' : `, then "${ask.default}" is taken`;
    lines.push(paint('dim', `  open until ${dateTime(ask.deadline)}${then}`));
  }
  if (ask.remindMs !== undefined) lines.push(paint('dim', `  a reminder every ${duration(ask.remindMs)}`));
  if (isAuthFailure(ask))
    lines.push(paint('dim', wrap(`  ${howToMend(task, ask.id, io.command)}`, textWidth(io), '  ')));
  if (!layout.howTo) return lines;
  const how = howToAnswer(event, task, io.command);
  return [
    ...lines,
    paint('dim', `  answer with: ${how.command}`),
    paint('dim', `  or in Temporal's UI, update "answer": ${how.json}`),
  ];
}

/** A request that was refused for its key or its account; the question names the class of the failure. */
function isAuthFailure({ kind, question }: Ask): boolean {
  return kind === 'api_req_failed' && /^The model request failed \((auth|billing)\)/.test(question);
}

function howToMend(task: string, ask: string, command: string): string {
  return `to mend it, answer yes from a shell with a valid key, or: ${command} answer ${task} ${ask} yes --profile NAME`;
}

/** A question of the model is its text, and so Markdown. */
function questionLines(question: string, kind: AskKind, io: Io): string[] {
  const paint = painter(io.colour);
  if (isTalk(kind)) {
    return rendered(markdownProse(io), question)
      .split('\n')
      .map((line, i) => (i === 0 ? `${paint('bold', '?')} ${line}` : line));
  }
  return wrap(`? ${question}`, textWidth(io), '  ')
    .split('\n')
    .map((line) => paint('bold', line));
}

/** The command and the JSON that answer an ask. @param command how this command line is called */
export function howToAnswer({ ask, reply }: AskEvent, task: string, command: string): HowToAnswer {
  return { command: `${command} answer ${task} ${ask.id} ${answersOf(ask)}`, json: reply };
}

function answersOf({ kind, options }: Ask): string {
  const text = options?.length ? 'NUMBER|"TEXT"' : '"TEXT"';
  if (kind === 'followup') return text;
  return kind === 'plan_mode_respond' ? `yes|${text}` : 'yes|no|"TEXT"';
}

/** What the model says is answered with words, and is Markdown. */
function isTalk(kind: AskKind): boolean {
  return kind === 'followup' || kind === 'plan_mode_respond';
}

/** The command that gives this answer. */
export function givenAnswer({ ask, answer, text }: Answer, task: string, command: string): string {
  const words = answer === 'message' ? [text ?? ''] : [answer];
  const more = answer !== 'message' && text !== undefined ? ['--text', text] : [];
  return [command, 'answer', task, ...(ask === undefined ? [] : [ask]), ...[...words, ...more].map(quoted)].join(' ');
}

/** Longest wait for a provider that a command which leaves at asks sits out, ms: that of an outage between two looks. */
const SAT_OUT_MS = 15 * 60_000;

/** When a parked task goes on by itself, ms since the epoch; undefined for an ask that somebody has to answer. */
export function parkedUntil({ kind, deadline, default: otherwise }: Ask): number | undefined {
  return kind === 'api_req_failed' && otherwise === 'yes' ? deadline : undefined;
}

/** A wait that ends by itself before long is nothing a person has to see to. */
export function needsPerson(ask: Ask): boolean {
  const until = parkedUntil(ask);
  return until === undefined || until - ask.opened > SAT_OUT_MS;
}

/** What `--on-ask default` answers; undefined: the ask settles itself at its deadline. */
export function defaultAnswer(ask: Ask): Answer | undefined {
  if (parkedUntil(ask) !== undefined) return undefined;
  switch (ask.kind) {
    case 'followup':
      return { ask: ask.id, answer: 'message', text: ask.options?.[0] ?? NOBODY, by: 'default' };
    case 'tool':
    case 'command':
    case 'mistake_limit_reached':
    case 'api_req_failed':
    case 'budget_limit_reached':
    case 'plan_mode_respond':
      return { ask: ask.id, answer: ask.default ?? 'no', by: 'default' };
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
    case 'plan_mode_respond':
      return `y = act mode: carry it out,${ask.options?.length ? ' a number,' : ''} or type what you say to it`;
    case 'budget_limit_reached':
      return 'y = go on to the limit, n = end the task, or type words for the model';
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
  if (isTalk(ask.kind)) {
    const picked = pickOption(ask, text);
    if (picked && 'problem' in picked) return `${picked.problem} Please type ${choicesOf(ask)}.`;
    if (picked || ask.kind === 'followup') return { ask: ask.id, answer: 'message', text: picked?.option ?? text };
  }
  const button = /^(y|yes|n|no)(?:\s*[,:]\s*(.+))?$/is.exec(text);
  if (button) {
    const answer = button[1]?.toLowerCase().startsWith('y') ? 'yes' : 'no';
    return { ask: ask.id, answer, ...(button[2] ? { text: button[2] } : {}) };
  }
  const [, word = text] = /^(\S+?)\s*[,:]\s*\S/.exec(text) ?? [];
  if (nearYesOrNo(word) || /^\d+$/.test(text)) return `"${word}" is neither yes nor no. Please type ${choicesOf(ask)}.`;
  return { ask: ask.id, answer: 'message', text };
}

/** The option that a number names; undefined when the text is no number, or the ask has no options. */
export function pickOption(ask: Ask, text: string): { option: string } | { problem: string } | undefined {
  const options = ask.options ?? [];
  if (options.length === 0 || !/^\d+$/.test(text.trim())) return undefined;
  const option = options[Number(text) - 1];
  if (option !== undefined) return { option };
  return { problem: `There is no option ${text.trim()}; the options are 1 to ${options.length}.` };
}

/** Whether an answer with these words, instead of yes or no, keeps something from being done. */
export function refuses(kind: AskKind, answer: Answer['answer']): boolean {
  return (kind === 'tool' || kind === 'command') && answer === 'message';
}

/** How an ask was settled, in one line. @param kind undefined when the ask itself is not known */
export function closedWords(event: AskClosedEvent, kind: AskKind | undefined): string {
  if (event.by === 'cancelled') return 'not answered: it is no longer asked';
  const text = event.text === undefined ? '' : neutralLine(event.text);
  const attached = event.attached === undefined ? '' : ' (with attachments)';
  const who = event.by === 'default' ? 'by default' : `by ${personOf(event)}`;
  if (kind !== undefined && refuses(kind, event.answer)) {
    return `answered ${who}: not done; the model gets the text: ${text}${attached}`;
  }
  if (event.answer === 'message') return `answered ${who}: ${text}${attached}`;
  return `answered ${who}: ${event.answer}${text === '' ? '' : `, ${text}`}${attached}`;
}

/** Whoever answered, and from where. */
function personOf({ who, from }: AskClosedEvent): string {
  const name = who === undefined ? 'a person' : neutralLine(who);
  if (from === undefined) return `${name} through Temporal`;
  switch (from) {
    case 'cli':
      return `${name} from a command line`;
    case 'library':
      return `${name} from a program`;
    case 'web':
      return `${name} from the web page`;
  }
}

function detailLines(detail: string, task: string, ask: Ask, layout: AskLayout): string[] {
  const { io, maxLines = DETAIL_LINES } = layout;
  const paint = painter(io.colour);
  const text = neutralise(detail).trimEnd();
  const more = `${io.command} show ${task} has all of it`;
  const lines = ask.kind === 'tool' ? diffLines(text, paint, maxLines, more) : shortened(text, paint, maxLines, more);
  return lines.map((line) => `  ${line}`);
}
