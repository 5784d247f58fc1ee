import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { LonghaulError } from '../domain/errors.js';
import { lookAt } from './claim.js';
import { cancelBeforeStart, concludeLost, endWithoutRunner } from './conclude.js';
import { Waker } from './follow.js';
import { bootId } from './identity.js';
import {
  type CommandExit,
  type CommandSpec,
  createWhole,
  errorCode,
  files,
  makeDir,
  readClaim,
  readExit,
  readSpec,
  requestCancel,
} from './layout.js';
import { type KeptOutput, readHead, readKept, SEGMENT_BYTES } from './output.js';
import { takeOver } from './owner.js';
import { commandOnlyEnvironment, defaultRunner, prepareRunner, startRunner } from './spare.js';

/** More output than this ends a command, bytes. What is kept is far less; this only ends what prints for ever. */
export const MAX_OUTPUT_BYTES = 16 * 1024 ** 3;

export interface RunCommand {
  /** The command's folder, from `commandDir`. The folder decides: a command that was run in it is not run again. */
  dir: string;
  spec: Omit<CommandSpec, 'v' | 'boot' | 'maxOutputBytes'> & { maxOutputBytes?: number };
  /** Temporal's id of the run that the command belongs to from now on. */
  run?: string;
  signal?: AbortSignal;
  /**
   * Why `signal` fired: `cancel` (also when this is absent) ends the command, `detach` leaves it running and throws
   * {@link CommandDetached}.
   */
  stopKind?: () => 'cancel' | 'detach';
  /** Gets the first {@link SEGMENT_BYTES} of the output in order, from the first byte on, also when attaching. */
  onOutput?: (bytes: Buffer) => void;
  /** Path of the compiled runner. */
  runner?: string;
}

export interface CommandEnd extends CommandExit, Omit<KeptOutput, 'bytes'> {}

/** Thrown by {@link runCommand} when it stops following: the command goes on, and another call can attach to it. */
export class CommandDetached extends Error {
  override readonly name = 'CommandDetached';
}

/** Errors of a disk that has no room, for anybody or for this user. */
const FULL: readonly string[] = ['ENOSPC', 'EDQUOT'];
/** How long a runner may take to end its command before it is done without it, ms: TERM, 2 s, KILL, and a reserve. */
const CANCEL_LIMIT_MS = 4000;
/** How often it is looked whether the runner still lives, ms. */
const ALIVE_CHECK_MS = 500;
/** Runners that may die before they take the command until this is given up. */
const MAX_STARTS = 5;

/**
 * Runs a command once, whoever calls this however often: starts it, attaches to it while it runs, or tells how it
 * ended. Safe to call from several processes at the same time.
 *
 * @throws CommandDetached
 * @throws LonghaulError `internal` when no runner can be started, or the folder holds another command; `journal-unwritable`
 * when the disk is full: the command may be running, and calling this again goes on with it
 */
export async function runCommand(request: RunCommand): Promise<CommandEnd> {
  try {
    return await startOrAttach(request);
  } catch (err) {
    if (!FULL.includes(errorCode(err) ?? '')) throw err;
    throw new LonghaulError('journal-unwritable', `The disk that holds ${request.dir} is full.`, {
      kept: 'The command is run once, and what it prints is kept.',
      next: 'Make room; the task goes on by itself.',
      cause: err,
    });
  }
}

async function startOrAttach(request: RunCommand): Promise<CommandEnd> {
  const { dir, signal, runner = defaultRunner() } = request;
  const spec = await agreeOnSpec(dir, request.spec);
  if (request.run !== undefined) takeOver(dir, request.run);
  const follower = new Follower(request, spec);
  const onAbort = () => follower.waker.ring();
  signal?.addEventListener('abort', onAbort);
  try {
    for (let starts = 0; ; ) {
      if (follower.isDetached()) throw new CommandDetached('The command goes on without this execution.');
      const seen = lookAt(dir, spec);
      switch (seen.state) {
        case 'ended':
          if (starts > 0) prepareRunner(runner);
          return follower.end(seen.exit);
        case 'lost':
          await concludeLost(dir, spec);
          break;
        case 'waiting':
          if (follower.isCancelled()) cancelBeforeStart(dir);
          else if (++starts > MAX_STARTS) throw noRunner(runner);
          else await follower.whileOurs(startRunner(dir, runner));
          break;
        case 'running':
          await follower.whileOthers();
          break;
      }
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
    follower.waker.close();
  }
}

function noRunner(runner: string): LonghaulError {
  return new LonghaulError('internal', 'The command runner cannot be started.', {
    kept: 'The command has not run.',
    next: `Try \`${process.execPath} ${runner} /tmp\`: it should end without a message.`,
  });
}

/** Passes output on while a runner works. */
class Follower {
  readonly waker: Waker;
  private passed = 0;

  constructor(
    private readonly request: RunCommand,
    private readonly spec: CommandSpec,
  ) {
    this.waker = new Waker(request.dir);
  }

  isCancelled(): boolean {
    return this.request.signal?.aborted === true && this.request.stopKind?.() !== 'detach';
  }

  isDetached(): boolean {
    return this.request.signal?.aborted === true && this.request.stopKind?.() === 'detach';
  }

  end(exit: CommandExit): CommandEnd {
    this.pass();
    return { ...readKept(this.request.dir), ...exit };
  }

  /** Until the runner just started has gone, or the command has ended. */
  async whileOurs(runner: ReturnType<typeof startRunner>): Promise<void> {
    let gone = runner.exitCode !== null || runner.signalCode !== null;
    const onExit = () => {
      gone = true;
      this.waker.ring();
    };
    runner.once('exit', onExit).once('error', onExit);
    await this.follow(() => gone);
    runner.off('exit', onExit).off('error', onExit);
  }

  /** Until the runner found at work has gone, or the command has ended. */
  async whileOthers(): Promise<void> {
    let checked = Date.now();
    await this.follow(() => {
      if (Date.now() - checked < ALIVE_CHECK_MS) return false;
      checked = Date.now();
      return lookAt(this.request.dir, this.spec).state !== 'running';
    });
  }

  private async follow(isOver: () => boolean): Promise<void> {
    const { dir } = this.request;
    let killAt: number | undefined;
    while (!isOver() && !this.isDetached()) {
      this.pass();
      if (readExit(dir) !== undefined) return;
      if (this.isCancelled()) {
        requestCancel(dir);
        killAt ??= Date.now() + CANCEL_LIMIT_MS;
        if (Date.now() > killAt) return endWithoutRunner(dir, this.spec);
      }
      await this.waker.wait();
    }
  }

  private pass(): void {
    const { dir, onOutput } = this.request;
    while (this.passed < SEGMENT_BYTES) {
      const piece = readHead(dir, this.passed);
      if (piece.length === 0) return;
      this.passed += piece.length;
      onOutput?.(piece);
    }
    this.waker.unwatch();
  }
}

/** The first worker's spec counts. It is on disk for good before anything runs, so that a power cut is noticed. */
async function agreeOnSpec(dir: string, wanted: RunCommand['spec']): Promise<CommandSpec> {
  makeDir(dir);
  const spec: CommandSpec = {
    v: 1,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    ...wanted,
    env: { ...commandOnlyEnvironment(process.env), ...wanted.env },
    boot: bootId(),
  };
  const isNew = readSpec(dir) === undefined && createWhole(files.spec(dir), JSON.stringify(spec));
  if (isNew || readClaim(dir).number === 0) {
    for (const path of [files.spec(dir), dir, dirname(dir), dirname(dirname(dir))]) await syncFile(path);
  }
  const agreed = isNew ? spec : readSpec(dir);
  if (agreed?.command === spec.command && agreed.cwd === spec.cwd) return agreed;
  throw new LonghaulError('internal', 'The folder of this command holds another command.', {
    kept: 'Nothing was run.',
    next: `Compare ${files.spec(dir)} with the call.`,
  });
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
