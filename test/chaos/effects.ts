import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CallKey, splitCallKey } from '../../src/domain/ids.js';
import { call, finish, pace, type Responder, type Step, say } from '../../src/fake-model/index.js';
import type { Journal } from '../../src/journal/journal.js';

/** What a crash means for the tools that the work below uses; `model` is an answer that streams. */
export const CLASSES = ['pure', 'checkable', 'attachable', 'control', 'model'] as const;
export type EffectClass = (typeof CLASSES)[number];

/** What became of one effect, judged by the files that it leaves and by what the model was told. */
export const FATES = ['correct', 'unknown and said', 'lost', 'repeated'] as const;
export type Fate = (typeof FATES)[number];

/** Files of the workspace at the beginning. */
/** The edited one is so large that changing it takes a while, and so may be met by a fault. */
export const FILES = { given: 'what is given\n', 'notes.txt': `${'a line that stays\n'.repeat(60_000)}end\n` };

/** Turns of one task: so few that no part of its conversation is left out. */
const TURNS = 100;

const COMMANDS = ['sleep 0.2; ', 'sleep 1; ', ''];

/**
 * Work that goes on until `isOver`, or for {@link TURNS}: each turn has one effect, named by the task and the turn. An
 * effect is asked for again under the same name only when the answer that asked for it is void.
 */
export const work =
  (isOver: () => boolean): Responder =>
  ({ turn, prompt }) => {
    const task = /Work ([\d-]+)\./.exec(prompt)?.[1] ?? '?';
    if (isOver() || turn >= TURNS) return [call('attempt_completion', { result: `turns: ${turn}` }), finish()];
    const name = `${task}-${turn};`;
    return [pace(20), say(`This is what I do now: ${name}`), effectOf(turn, name), finish()];
  };

function effectOf(turn: number, name: string): Step {
  switch (turn % 8) {
    case 0:
      return call('read_file', { path: 'given' });
    case 1:
    case 3:
    case 5:
      return call('replace_in_file', {
        path: 'notes.txt',
        diff: `------- SEARCH\nend\n=======\n${name}\nend\n+++++++ REPLACE`,
      });
    case 2:
      return call('write_to_file', { path: `file-${turn}`, content: `${name}\n` });
    case 7:
      return call('ask_followup_question', { question: `Go on after ${name}?` });
    default: {
      const command = `echo '${name}' >> counter; ${COMMANDS[turn % COMMANDS.length]}echo done`;
      return call('execute_command', { command, requires_approval: false });
    }
  }
}

/** One call that a task has made. */
export interface Effect {
  class: EffectClass;
  task: string;
  /** ms since the epoch */
  begun: number;
  ended: number;
  fate: Fate;
  /** For people, where the fate is none of the good ones. */
  details: string;
}

interface Call {
  tool: string;
  name: string;
  begun: number;
  ended: number;
  status: string;
  text: string;
}

/** All effects of a task that has closed, judged from outside: by the files of its workspace. */
export async function judge(journal: Journal, task: string, workspace: string): Promise<Effect[]> {
  const effects: Effect[] = [];
  for (const made of await callsOf(journal, task)) {
    const fate = fateOf(made, workspace);
    const { tool, name, begun, ended, status, text } = made;
    const details = fate === 'correct' ? '' : `${name} ${tool}: ${status}, ${text.slice(0, 200)}`;
    effects.push({ class: classOf(tool), task, begun, ended, fate, details });
  }
  return [...effects, ...(await answersOf(journal, task))];
}

function classOf(tool: string): EffectClass {
  switch (tool) {
    case 'read_file':
      return 'pure';
    case 'replace_in_file':
    case 'write_to_file':
      return 'checkable';
    case 'execute_command':
      return 'attachable';
    default:
      return 'control';
  }
}

function fateOf({ tool, name, status, text }: Call, workspace: string): Fate {
  const done = timesDone(tool, name, workspace);
  if (done > 1) return 'repeated';
  const isSaid = /unknown|interrupted|not executed/i.test(text) || status === 'unknown' || status === 'interrupted';
  if (isSaid) return 'unknown and said';
  const isTold = tool === 'read_file' ? text.includes('what is given') : status === 'done';
  return isTold && done === 1 ? 'correct' : 'lost';
}

/** How often the effect is in the workspace; one without any there counts as once. */
function timesDone(tool: string, name: string, workspace: string): number {
  switch (tool) {
    case 'replace_in_file':
      return lines(workspace, 'notes.txt').filter((line) => line === name).length;
    case 'execute_command':
      return lines(workspace, 'counter').filter((line) => line === name).length;
    case 'write_to_file': {
      const turn = /-(\d+);$/.exec(name)?.[1];
      // a later task of the same workspace writes the same file
      return lines(workspace, `file-${turn}`).length === 2 ? 1 : 0;
    }
    default:
      return 1;
  }
}

function lines(workspace: string, file: string): string[] {
  const path = join(workspace, file);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
}

async function callsOf(journal: Journal, task: string): Promise<Call[]> {
  const open = new Map<string, Call>();
  const calls: Call[] = [];
  for (let seq = 0; ; ) {
    const events = await journal.readEvents(task, seq, 1000);
    if (events.length === 0) return calls;
    seq = events.at(-1)!.seq;
    for (const { at, event } of events) {
      if (event.type === 'ask' && event.ask.kind === 'followup') {
        open.set(event.ask.id, { ...asked(event.ask.question), begun: at, ended: at });
      }
      if (event.type === 'ask_closed') finishCall(calls, open, event.ask, at, 'done', event.text ?? '');
      if (event.type !== 'say') continue;
      if (event.say === 'tool' || event.say === 'command') {
        open.set(event.call, { ...(await nameOf(journal, event.call)), begun: at, ended: at });
      }
      if (event.say === 'tool_result' || event.say === 'command_output') {
        finishCall(calls, open, event.call, at, event.status, event.text);
      }
    }
  }
}

const asked = (question: string) => ({
  tool: 'ask_followup_question',
  name: /[\d-]+;/.exec(question)?.[0] ?? question,
  status: '',
  text: '',
});

function finishCall(
  calls: Call[],
  open: Map<string, Call>,
  key: string,
  ended: number,
  status: string,
  text: string,
): void {
  const made = open.get(key);
  if (made) calls.push({ ...made, ended, status, text });
  open.delete(key);
}

/** The effect that a call is named by, in the answer that made it. */
async function nameOf(journal: Journal, key: CallKey) {
  const { turn, block } = splitCallKey(key);
  const answer = await journal.getTurn(turn);
  const made = answer?.blocks.find((one) => one.type === 'tool_use' && one.block === block);
  const said = answer?.blocks.find((one) => one.type === 'text');
  const name = /[\d-]+;/.exec(said?.type === 'text' ? said.text : '')?.[0] ?? '?';
  return { tool: made?.type === 'tool_use' ? made.name : '?', name, status: '', text: '' };
}

/** Requests that were answered: each claim is retracted or becomes an answer, and none is paid for twice. */
async function answersOf(journal: Journal, task: string): Promise<Effect[]> {
  const begun = new Map<string, { at: number; ends: number }>();
  const effects: Effect[] = [];
  for (let seq = 0; ; ) {
    const events = await journal.readEvents(task, seq, 1000);
    if (events.length === 0) return effects;
    seq = events.at(-1)!.seq;
    for (const { at, event } of events) {
      if (event.type === 'say' && event.say === 'api_req_started' && !begun.has(event.turn)) {
        begun.set(event.turn, { at, ends: 0 });
      }
      if (event.type !== 'say' || event.say !== 'api_req_finished') continue;
      const start = begun.get(event.turn);
      if (!start) continue;
      const fate = start.ends++ > 0 ? 'repeated' : event.stop === 'interrupted' ? 'unknown and said' : 'correct';
      const details = fate === 'correct' ? '' : `turn ${event.turn}: ${event.stop}`;
      effects.push({ class: 'model', task, begun: start.at, ended: at, fate, details });
    }
  }
}
