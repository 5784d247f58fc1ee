import type { Readable, Writable } from 'node:stream';
import { calledAs } from './called-as.js';

/** What a command may use of the process it runs in. Tests give their own streams. */
export interface Io {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean; columns?: number };
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** How this command line is called, for hints: see `calledAs`. */
  command: string;
  /** A person sits there: both ends are terminals. */
  interactive: boolean;
  colour: boolean;
  /** Standard output takes a line that is rewritten while something goes on. */
  live: boolean;
  /** Where SIGINT, SIGTERM and SIGHUP arrive. */
  signals: Pick<NodeJS.EventEmitter, 'on' | 'off'>;
}

export function processIo(): Io {
  const { stdin, stdout, stderr, env } = process;
  const terminal = stdout.isTTY === true;
  const cwd = process.cwd();
  return {
    stdin,
    stdout,
    stderr,
    env,
    cwd,
    command: calledAs(process.argv[1], cwd),
    interactive: terminal && stdin.isTTY === true && env.TERM !== 'dumb',
    colour: wantsColour(env, terminal),
    live: terminal && env.TERM !== 'dumb' && !env.CI,
    signals: process,
  };
}

/** A terminal gets colours; `NO_COLOR` and `FORCE_COLOR` overrule that, the former first. */
export function wantsColour(env: NodeJS.ProcessEnv, terminal: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return !['0', 'false'].includes(env.FORCE_COLOR);
  return terminal && env.TERM !== 'dumb';
}

/** Columns to lay tables and one-line entries out for. Not a terminal: wide enough for any of them. */
export function columns(io: Io): number {
  if (!io.stdout.isTTY) return 160;
  return Math.max(40, io.stdout.columns || 80);
}

/** Columns to wrap text at; without a terminal it is not wrapped. */
export function textWidth(io: Io): number {
  return io.stdout.isTTY ? columns(io) : Number.POSITIVE_INFINITY;
}

export function printLine(io: Io, text: string): void {
  io.stdout.write(`${text}\n`);
}

export function printJson(io: Io, value: Record<string, unknown>): void {
  printLine(io, JSON.stringify({ v: 1, ...value }));
}

/** For diagnostics: everything that is not the command's own output. */
export function printNote(io: Io, text: string): void {
  io.stderr.write(`${text}\n`);
}

const CODES = {
  bold: '1',
  dim: '2',
  italic: '3',
  underline: '4',
  red: '31',
  green: '32',
  yellow: '33',
  blue: '34',
  cyan: '36',
} as const;
export type Style = keyof typeof CODES;
export type Paint = (style: Style, text: string) => string;

/** Colours text line by line, so that a style never runs over a line's end; without colour it is the identity. */
export function painter(colour: boolean): Paint {
  if (!colour) return (_style, text) => text;
  return (style, text) =>
    text
      .split('\n')
      .map((line) => (line === '' ? '' : `\u001b[${CODES[style]}m${line}\u001b[0m`))
      .join('\n');
}
