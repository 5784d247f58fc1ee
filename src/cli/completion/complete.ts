import type { Argument, Command, Option } from 'commander';
import type { ReadsWords } from '../flags.js';

export interface Candidate {
  value: string;
  /** On one line; may be empty. */
  about: string;
}

/** What fits at the end of a command line. */
export interface Completion {
  kind: 'values' | 'folders' | 'files' | 'nothing';
  /** What stands in the same word before it, such as `--workspace=`; values begin with it. */
  before: string;
  /** Those that begin with what has been typed. */
  candidates: Candidate[];
}

/** A value to be found outside of the program itself. */
export interface Wanted {
  /** Name of the flag without hyphens, or of the argument. */
  name: string;
  /** Names of the command and of the ones above it, such as `profile show`. */
  command: string;
  /** The arguments before it. */
  before: readonly string[];
  typed: string;
}

export type FindValues = (wanted: Wanted) => Promise<Candidate[]> | Candidate[];

/** What the command line says so far. */
interface Place {
  command: Command;
  path: string[];
  given: string[];
  used: Set<Option>;
  /** A flag whose value is next. */
  pending: Option | undefined;
  /** `--` has been given. */
  plain: boolean;
}

const NOTHING: Completion = { kind: 'nothing', before: '', candidates: [] };

/**
 * Completes the last of the words. All it offers comes from the program: commands, flags, the words that a value takes,
 * and folders and files where a value is named so.
 *
 * @param words of the command line behind the command; the last one is what has been typed, perhaps nothing
 */
export async function complete(program: Command, words: readonly string[], find: FindValues): Promise<Completion> {
  const typed = words.at(-1) ?? '';
  const place = follow(program, words.slice(0, -1));
  if (!place) return NOTHING;
  if (place.pending) return valueFor(place, place.pending, '', typed, find);
  if (!place.plain && typed.startsWith('-')) {
    const [flag = '', ...value] = typed.split('=');
    if (value.length === 0) return flags(place, typed);
    const option = findOption(place.command, flag);
    return option ? valueFor(place, option, `${flag}=`, value.join('='), find) : NOTHING;
  }
  if (place.command.commands.length > 0) return subcommands(place, typed);
  const argument = argumentAt(place);
  const found = argument ? await valueFor(place, argument, '', typed, find) : NOTHING;
  return found.kind === 'nothing' && typed === '' && !place.plain ? flags(place, '') : found;
}

/** @returns undefined when a word is no command */
function follow(program: Command, words: readonly string[]): Place | undefined {
  const place: Place = { command: program, path: [], given: [], used: new Set(), pending: undefined, plain: false };
  for (const word of words) {
    if (place.pending) place.pending = undefined;
    else if (!place.plain && word === '--') place.plain = true;
    else if (!place.plain && word.startsWith('-') && word !== '-') takeFlag(place, word);
    else if (place.command.commands.length === 0) place.given.push(word);
    else {
      const next = place.command.commands.find((one) => one.name() === word || one.aliases().includes(word));
      if (next) {
        place.command = next;
        place.path.push(next.name());
        place.used = new Set();
      } else if (word !== 'help') return undefined;
    }
  }
  return place;
}

function takeFlag(place: Place, word: string): void {
  const [flag = '', ...value] = word.split('=');
  const option = findOption(place.command, flag);
  if (!option) return;
  place.used.add(option);
  if (option.required && value.length === 0) place.pending = option;
}

function findOption(command: Command, flag: string): Option | undefined {
  return command
    .createHelp()
    .visibleOptions(command)
    .find(({ long, short }) => long === flag || short === flag);
}

function subcommands({ command }: Place, typed: string): Completion {
  const all = command.createHelp().visibleCommands(command);
  return values(
    all.map((one) => ({ value: one.name(), about: one.summary() || one.description() })),
    '',
    typed,
  );
}

function flags({ command, used }: Place, typed: string): Completion {
  const all = command
    .createHelp()
    .visibleOptions(command)
    .filter((option) => ![...used].some(({ long }) => long === option.long) || wordsOf(option)?.list || repeats(option))
    .flatMap(({ long, short, description }) => {
      const value = short && typed === short ? short : (long ?? short);
      return value === undefined ? [] : [{ value, about: description }];
    });
  return values(all, '', typed);
}

/** The one that the next word is for; the last one may take many. */
function argumentAt({ command, given }: Place): Argument | undefined {
  const all = command.registeredArguments;
  const last = all.at(-1);
  return all[given.length] ?? (last?.variadic ? last : undefined);
}

async function valueFor(
  { path, given }: Place,
  thing: Option | Argument,
  before: string,
  typed: string,
  find: FindValues,
): Promise<Completion> {
  const words = wordsOf(thing);
  if (words) {
    const done = words.list ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
    const taken = done.split(',');
    const closed = words.alone !== undefined && taken.includes(words.alone);
    const left = closed
      ? []
      : words.words.filter((word) => !taken.includes(word) && (done === '' || word !== words.alone));
    return values(
      left.map((word) => ({ value: done + word, about: '' })),
      before,
      typed,
    );
  }
  const placeholder = 'flags' in thing ? (/[<[]([^\]>]+)/.exec(thing.flags)?.[1] ?? '') : thing.name();
  if (/^dir\b|folder/.test(placeholder)) return { kind: 'folders', before, candidates: [] };
  if (/^file\b/.test(placeholder)) return { kind: 'files', before, candidates: [] };
  const name = 'flags' in thing ? (thing.long ?? '').slice(2) : thing.name();
  return values(await find({ name, command: path.join(' '), before: given, typed }), before, typed);
}

function values(all: readonly Candidate[], before: string, typed: string): Completion {
  const candidates = all
    .filter(({ value }) => value.startsWith(typed))
    .map(({ value, about }) => ({ value: before + value, about }));
  return candidates.length === 0 ? { ...NOTHING, before } : { kind: 'values', before, candidates };
}

/** May be given more than once. */
function repeats({ parseArg, variadic }: Option): boolean {
  return variadic || (parseArg !== undefined && 'repeats' in parseArg);
}

function wordsOf(thing: Option | Argument): Pick<ReadsWords<unknown>, 'words' | 'list' | 'alone'> | undefined {
  const { parseArg } = thing;
  if (parseArg && 'words' in parseArg) return parseArg as unknown as ReadsWords<unknown>;
  const { argChoices } = thing as { argChoices?: string[] };
  return argChoices && { words: argChoices };
}
