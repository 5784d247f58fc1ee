import { type Options, type ReadOptions, readOptions } from './options.js';
import type { Argument } from './words.js';

/** A command that only reads: the arguments that may be names of files. Else why it is not known to be one. */
export type ReadOnly = { files: Argument[]; recursive?: boolean; git?: 'work-tree' | 'objects' } | { why: string };

export type Judge = (args: Argument[]) => ReadOnly;

/** Nothing it can be told makes it do anything but read its arguments and print. */
export const anything: Judge = (args) => ({ files: args.flatMap(possibleFiles) });

/** What an argument holds that a program may take for the name of a file. */
function possibleFiles(arg: Argument): Argument[] {
  const { value } = arg;
  if (value === undefined || !value.startsWith('-') || value === '-') return value === '-' ? [] : [arg];
  const inline = value.startsWith('--') ? value.split('=').slice(1).join('=') : value.slice(2);
  return /[/.~]/.test(inline) ? [{ text: arg.text, value: inline, prefix: inline, single: true }] : [];
}

export interface Spec extends Options {
  /** Options whose value is the name of a file. */
  files?: string;
  /** How many operands are no files: a pattern, a format. A function where an option takes its place. */
  texts?: number | ((read: ReadOptions) => number);
  /** Most operands. */
  most?: number;
  /** Options that make it read whole folders. */
  recursive?: readonly string[];
  check?: (read: ReadOptions) => string | undefined;
}

/** Only the options that are listed. */
export function only(spec: Spec): Judge {
  return (args) => {
    const read = readOptions(args, spec);
    if (typeof read === 'string') return { why: read };
    const { given, operands } = read;
    if (spec.most !== undefined && (operands.length > spec.most || operands.some((one) => !one.single))) {
      return { why: 'it could write to a file that is among its arguments' };
    }
    const wrong = spec.check?.(read);
    if (wrong !== undefined) return { why: wrong };
    const texts = typeof spec.texts === 'function' ? spec.texts(read) : (spec.texts ?? 0);
    if (operands.slice(0, texts).some((one) => !one.single)) return { why: 'its arguments are not known' };
    const named = given.flatMap(({ name, value }) => (value && spec.files?.includes(name) ? [value] : []));
    const recursive = given.some(({ name }) => spec.recursive?.includes(name));
    return { files: [...named, ...operands.slice(texts).filter((one) => one.value !== '-')], recursive };
  };
}

/** None is opened; a pattern still shows the names of those that match. */
export const noFiles: Judge = (args) => ({ files: args.filter((one) => one.pattern !== undefined) });

/** Exactly these arguments. */
export function exactly(...lists: string[]): Judge {
  return (args) =>
    lists.includes(args.map((one) => one.value ?? '\0').join(' '))
      ? { files: [] }
      : { why: `it is known to be safe only with ${lists.map((one) => one || 'no arguments').join(', or ')}` };
}
