import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { commandEnvironment, findShell } from './environment.js';
import { identify } from './identity.js';
import {
  type CommandEndKind,
  type CommandExit,
  type CommandSpec,
  errorCode,
  files,
  isCancelRequested,
  type RunnerClaim,
  readBegan,
  takeBegan,
  writeExit,
} from './layout.js';
import { OutputWriter } from './output.js';
import { endProcesses, findProcesses, type Quarry } from './processes.js';

/** How often the runner looks whether it has been asked to end the command, ms. */
const CANCEL_POLL_MS = 100;
/** After the shell has ended: how long a background child may keep the output open before the command counts as ended, ms. */
const LINGER_MS = 500;
/** How often a runner looks whether what its command left in the background still lives, ms. */
const BACKGROUND_POLL_MS = 10_000;
/** Linux refuses a single argument of 128 KB; a longer command goes through a file. */
const MAX_ARGUMENT_BYTES = 100_000;

/** First act of the command's shell: it takes `began`, exclusively; only then it becomes the command. */
const BEGIN = 'set -C; { printf "%s %s" "$1" "$$" > "$2"; } 2>/dev/null || exit 97; set +C; shift 2; exec "$@"';

export interface OutputPipe {
  read: Socket;
  write: number;
}

/**
 * One real pipe for standard output and error, so that they keep their order, and /dev/stdout and /dev/stderr can be
 * opened (Node's own pipes are sockets, which cannot). Undefined where there are no named pipes.
 */
export function makePipe(): OutputPipe | undefined {
  let folder: string | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), 'longhaul-'));
    const path = join(folder, 'pipe');
    if (spawnSync('mkfifo', ['-m', '600', path], { stdio: 'ignore' }).status !== 0) return undefined;
    const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const write = openSync(path, constants.O_WRONLY);
    return { read: new Socket({ fd: read, readable: true, writable: false }).pause(), write };
  } catch {
    return undefined;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns undefined when the worker ends without handing anything over */
export function readDirFromStdin(): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const stdin = new Socket({ fd: 0, readable: true, writable: false }).setEncoding('utf8');
    const end = () => resolve(text.endsWith('\n') ? text.slice(0, -1) : undefined);
    stdin.on('data', (piece) => {
      text += piece;
      if (text.endsWith('\n')) end();
    });
    stdin.on('end', end).on('error', end);
  });
}

/** The service that started the runner may be stopped with all its group; the command goes on. */
export function ignoreStopSignals(): void {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
}

/** Runs the command to its end, writes how it ended, then serves what it left in the background. */
export async function runClaimed(
  dir: string,
  { spec, claim }: { spec: CommandSpec; claim: RunnerClaim },
  pipe: OutputPipe | undefined,
): Promise<void> {
  const started = process.hrtime.bigint();
  const writer = new OutputWriter(dir);
  const finish = (part: Pick<CommandExit, 'end'> & Partial<CommandExit>) =>
    writeEnd(dir, {
      v: 1,
      code: null,
      signal: null,
      ms: Math.round(Number(process.hrtime.bigint() - started) / 1e6),
      ended: Date.now(),
      bytes: writer.bytes,
      lines: writer.lines,
      living: 0,
      ...part,
    });
  if (isCancelRequested(dir)) return finish({ end: 'cancelled' });

  const shell = await startShell(dir, spec, claim, pipe);
  if ('message' in shell) return finish({ end: 'failed', message: shell.message });

  const { child, output } = shell;
  const quarry = quarryOf(spec, child.pid ?? 0);
  const closed = new Promise<void>((resolve) => output.once('close', resolve));
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let forced: CommandEndKind | undefined;
  let byItself = false;
  let ended: () => void = () => {};
  const allEnded = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const force = (why: CommandEndKind) => {
    if (forced) return;
    forced = why;
    endProcesses(quarry).then(ended);
  };
  child.once('exit', () => {
    byItself = forced === undefined;
  });
  let kept = true;
  output.on('data', (chunk: Buffer) => {
    if (!kept) return;
    writer.write(chunk);
    if (writer.bytes > spec.maxOutputBytes) force('output_limit');
  });
  output.on('error', () => {}).resume();
  const timer = spec.timeoutMs === null ? undefined : setTimeout(() => force('timed_out'), spec.timeoutMs);
  const poll = setInterval(() => isCancelRequested(dir) && force('cancelled'), CANCEL_POLL_MS);

  await Promise.race([exited, allEnded]);
  if (forced) await allEnded;
  await Promise.race([Promise.all([exited, closed]), delay(LINGER_MS)]);
  clearTimeout(timer);
  kept = false;
  writer.close();
  // ended so early that its shell had not begun: then nobody may begin it any more
  if (forced && readBegan(dir) === undefined) takeBegan(dir, claim.id);
  if (readBegan(dir)?.claim !== claim.id) return;

  const { exitCode: code, signalCode: signal } = child;
  const own = signal === null ? 'exited' : 'signalled';
  const end = byItself ? own : (forced ?? own);
  await finish({ end, code, signal, living: forced ? 0 : await countLiving(quarry) });
  await Promise.race([closed, untilGone(quarry)]);
  if (forced) await allEnded;
  clearInterval(poll);
}

async function startShell(
  dir: string,
  spec: CommandSpec,
  claim: RunnerClaim,
  pipe: OutputPipe | undefined,
): Promise<{ child: ChildProcess; output: Readable } | { message: string }> {
  if (!existsSync(spec.cwd)) return { message: `The folder ${spec.cwd} does not exist.` };
  const env = commandEnvironment(process.env, spec);
  const long = Buffer.byteLength(spec.command) > MAX_ARGUMENT_BYTES;
  if (long) writeFileSync(files.script(dir), spec.command, { mode: 0o600 });
  const command = [findShell(env.PATH), ...(long ? [files.script(dir)] : ['-c', spec.command])];
  // with sockets instead of a pipe both ends are joined by the shell
  const begin = pipe ? BEGIN : `exec 2>&1; ${BEGIN}`;
  const args = ['-c', begin, 'longhaul', claim.id, files.began(dir), ...command];
  const stdio = pipe ? pipe.write : ('pipe' as const);
  try {
    const child = spawn('/bin/sh', args, { cwd: spec.cwd, env, detached: true, stdio: ['ignore', stdio, stdio] });
    const failure = await new Promise<Error | undefined>((resolve) => {
      child.once('spawn', () => resolve(undefined));
      child.once('error', resolve);
    });
    if (failure) return { message: failure.message };
    if (pipe) closeSync(pipe.write);
    const output = pipe?.read ?? child.stdout;
    return output ? { child, output } : { message: 'There is no output to read.' };
  } catch (err) {
    return { message: err instanceof Error ? err.message : String(err) };
  }
}

function quarryOf(spec: CommandSpec, shell: number): Quarry {
  const start = identify(shell)?.start;
  return {
    marked: (info) => info.call === spec.call && info.task === spec.task,
    ...(start !== undefined && { session: { leader: shell, start } }),
  };
}

/** Until nothing of the command lives: whoever else still holds its output open is not waited for. */
async function untilGone(quarry: Quarry): Promise<void> {
  do await delay(BACKGROUND_POLL_MS);
  while (findProcesses(quarry).length > 0);
}

/** Processes that outlive the shell. What is just going away is not counted. */
async function countLiving(quarry: Quarry): Promise<number> {
  if (findProcesses(quarry).length === 0) return 0;
  await delay(50);
  return findProcesses(quarry).length;
}

/** How often and how far apart the end is written again when the disk is full. */
const WRITE_TRIES = 60;
const WRITE_PAUSE_MS = 1000;

async function writeEnd(dir: string, exit: CommandExit): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      writeExit(dir, exit);
      return;
    } catch (err) {
      if (tries >= WRITE_TRIES || errorCode(err) === 'ENOENT') return;
      await delay(WRITE_PAUSE_MS);
    }
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
