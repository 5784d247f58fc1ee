import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import xterm from '@xterm/headless';
import { COMMAND, until } from './world.js';

const PTY = fileURLToPath(new URL('open_terminal.py', import.meta.url));

// biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal is sent
const CONTROLS = /\u001b\[[0-9;?]*[A-Za-z]|\u001b[=>]|[\u0007\r]/g;

/** A command in a real terminal, and what a person sees there. */
export interface TestTerminal {
  pid: number;
  /** Everything that was written, escapes included. */
  raw(): string;
  /** The lines as they stand, scrolled ones included, without trailing spaces and empty lines at the end. */
  lines(): Promise<string[]>;
  /** Waits until a line matches. @returns that line */
  sees(pattern: RegExp, ms?: number): Promise<string>;
  type(text: string): void;
  /** Types, and waits until what is written from then on matches. @returns that, without controls */
  answers(keys: string, pattern: RegExp): Promise<string>;
  resize(columns: number, rows?: number): void;
  /** The exit code, when it has ended. */
  ended: Promise<number | null>;
  kill(): void;
}

export interface TerminalOptions {
  env: NodeJS.ProcessEnv;
  columns?: number;
  rows?: number;
  cwd?: string;
  /** Replaces the command line of the product. */
  command?: string[];
}

export function openTerminal(args: string[], options: TerminalOptions): TestTerminal {
  const { columns = 80, rows = 24, cwd = tmpdir(), command = [process.execPath, COMMAND] } = options;
  const env = { ...options.env, TERM: options.env.TERM ?? 'xterm-256color', CI: options.env.CI ?? '' };
  const screen = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  const child = spawn('python3', [PTY, String(columns), String(rows), ...command, ...args], {
    env,
    cwd,
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  });
  let raw = '';
  let ended = false;
  child.stdout?.on('data', (data: Buffer) => {
    raw += data.toString();
    screen.write(data);
  });
  const control = child.stdio[3] as NodeJS.WritableStream;
  const lines = async () => {
    await new Promise<void>((done) => screen.write('', done));
    const { active } = screen.buffer;
    const all = Array.from({ length: active.length }, (_, i) => active.getLine(i)?.translateToString(true) ?? '');
    return all.slice(0, all.findLastIndex((line) => line !== '') + 1);
  };
  const terminal: TestTerminal = {
    pid: child.pid!,
    raw: () => raw,
    lines,
    sees: async (pattern, ms) => {
      try {
        return await until(async () => {
          const found = (await lines()).find((line) => pattern.test(line));
          if (found === undefined && ended) throw new Error('It has ended.');
          return found;
        }, ms);
      } catch (err) {
        throw new Error(`${String(err)} ${pattern} was not seen in:\n${(await lines()).join('\n')}`);
      }
    },
    type: (text) => void child.stdin?.write(text),
    answers: async (keys, pattern) => {
      const from = raw.length;
      child.stdin?.write(keys);
      const written = () => raw.slice(from).replace(CONTROLS, '');
      await until(async () => pattern.test(written())).catch((err) => {
        throw new Error(`${String(err)} ${pattern} was not seen in:\n${written()}`);
      });
      return written();
    },
    resize: (cols, height = rows) => {
      screen.resize(cols, height);
      control.write(`${cols} ${height}\n`);
    },
    ended: new Promise((done) =>
      child.once('close', (code) => {
        ended = true;
        done(code);
      }),
    ),
    kill: () => void child.kill('SIGTERM'),
  };
  return terminal;
}
