import type { Argument } from './words.js';

/** The options of a program that are known here, as it takes them: `ab:` is `-a` and `-b VALUE`; long ones likewise. */
export interface Options {
  short?: string;
  /** Names with spaces between; `name:` takes a value, `name=` may take one behind `=`. */
  long?: string;
  /** `-5` is an option. */
  digits?: true;
  /** Nothing it can be told makes it write or run anything, so that arguments which are not known may be options. */
  harmless?: true;
}

export interface ReadOptions {
  /** Name (without dashes) and value of each. */
  given: { name: string; value?: Argument }[];
  operands: Argument[];
}

/**
 * Reads arguments the way getopt does.
 * @param stop at the first operand, as programs do that run what follows
 * @returns what is not known here, in words
 */
export function readOptions(args: readonly Argument[], known: Options, stop = false): ReadOptions | string {
  const read: ReadOptions = { given: [], operands: [] };
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as Argument;
    const { value } = arg;
    if (value === undefined && !known.harmless && !isBarePattern(arg) && mayBeOption(arg))
      return `${arg.text} could become an option`;
    if (value === '--') {
      read.operands.push(...args.slice(at + 1));
      return read;
    }
    if (value === undefined || !/^-./.test(value)) {
      read.operands.push(arg);
      if (!stop) continue;
      read.operands.push(...args.slice(at + 1));
      return read;
    }
    const taken = known.digits && /^-\d+$/.test(value) ? 0 : takeOption(value, args[at + 1], known, read);
    if (typeof taken === 'string') return taken;
    at += taken;
  }
  return read;
}

/** Names that match are looked at where the files are: none may begin with a dash. */
function isBarePattern({ pattern, prefix }: Argument): boolean {
  return pattern !== undefined && prefix === '';
}

/** An argument that begins with a dash, or could when the shell has expanded it. */
export function mayBeOption({ value, prefix, single, pattern }: Argument): boolean {
  if (value !== undefined) return value.startsWith('-');
  return (!single && pattern === undefined) || prefix === '' || prefix.startsWith('-');
}

/** @returns how many further arguments it took, or what is wrong */
function takeOption(text: string, next: Argument | undefined, known: Options, read: ReadOptions): number | string {
  if (text.startsWith('--')) {
    const [name = '', ...rest] = text.slice(2).split('=');
    const inline = rest.length === 0 ? undefined : rest.join('=');
    return take(name, `--${name}`, inline, next, (known.long ?? '').split(' '), read);
  }
  const letters: readonly string[] = (known.short ?? '').match(/.:?/gs) ?? [];
  for (let at = 1; at < text.length; at++) {
    const letter = text[at] as string;
    const isValued = letters.includes(`${letter}:`);
    const inline = isValued && at + 1 < text.length ? text.slice(at + 1) : undefined;
    const taken = take(letter, `-${letter}`, inline, next, letters, read);
    if (isValued || typeof taken === 'string') return taken;
  }
  return 0;
}

function take(
  name: string,
  shown: string,
  inline: string | undefined,
  next: Argument | undefined,
  known: readonly string[],
  read: ReadOptions,
): number | string {
  if (known.includes(`${name}:`)) {
    const value = inline === undefined ? next : { text: inline, value: inline, prefix: inline, single: true };
    if (!value) return `${shown} lacks its value`;
    if (!value.single) return `${value.text} could be several arguments`;
    // where a program sees the option otherwise than it is seen here, this would be an option of its own
    if (inline === undefined && mayBeOption(value)) return `${shown} lacks its value`;
    read.given.push({ name, value });
    return inline === undefined ? 1 : 0;
  }
  if (known.includes(`${name}=`) || (known.includes(name) && inline === undefined)) {
    read.given.push({
      name,
      ...(inline !== undefined && { value: { text: inline, value: inline, prefix: inline, single: true } }),
    });
    return 0;
  }
  return `${shown} is not an option that is known to be safe`;
}
