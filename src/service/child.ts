import type { ChildProcess } from 'node:child_process';
import { endProcess, type ProcessRef, processRef } from './processes.js';

/** How a process ended, for people: `exit code 1` or `signal SIGKILL`. */
export type ExitText = string;

/** A child process that is kept running. */
export interface RunningChild {
  pid: number;
  ref: ProcessRef;
  exited: Promise<ExitText>;
  /** SIGTERM, then SIGKILL to its group after `graceMs`; resolves when it is gone. */
  stop(graceMs: number): Promise<void>;
}

/** Wraps a process that has just been spawned. Throws when it could not be. */
export function runningChild(child: ChildProcess, title: string): RunningChild {
  const exited = new Promise<ExitText>((done) => {
    child.once('exit', (code, signal) => done(signal ? `signal ${signal}` : `exit code ${code}`));
    child.once('error', (err) => done(err.message));
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${title} could not be started`);
  // a child that has already ended keeps its pid until it is reaped, which needs this event loop
  const ref = processRef(pid) ?? { pid, start: 'ended' };
  return {
    pid,
    ref,
    exited,
    stop: async (graceMs) => {
      await endProcess(ref, graceMs);
      await exited;
    },
  };
}
