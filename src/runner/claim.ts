import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { bootId, identify, isAlive } from './identity.js';
import {
  type CommandExit,
  type CommandSpec,
  createWhole,
  files,
  type RunnerClaim,
  readBegan,
  readClaim,
  readExit,
  readSpec,
} from './layout.js';

/** What the folder of a command says about it. */
export type CommandState =
  /** Nobody works on it, and nothing of it has run. */
  | { state: 'waiting' }
  | { state: 'running'; claim: RunnerClaim }
  /** It had begun, and its runner is gone; or the machine was restarted, and nobody can tell. */
  | { state: 'lost'; shell?: number }
  | { state: 'ended'; exit: CommandExit };

export function lookAt(dir: string, spec: CommandSpec): CommandState {
  const { claim } = readClaim(dir);
  if (claim !== undefined && isAlive(claim.runner)) {
    const exit = readExit(dir);
    return exit === undefined ? { state: 'running', claim } : { state: 'ended', exit };
  }
  // in this order: a runner writes `began` before `exit.json`, and both before it goes
  const began = readBegan(dir);
  const exit = readExit(dir);
  if (exit !== undefined) return { state: 'ended', exit };
  if (began?.shell !== undefined) return { state: 'lost', shell: began.shell };
  return began !== undefined || spec.boot !== bootId() ? { state: 'lost' } : { state: 'waiting' };
}

/**
 * Takes the command for this process, if it still waits for a runner. Any number of processes may try: one gets it.
 * Even a claim taken over in error cannot run a command twice, since its shell creates `began` exclusively.
 */
export function takeClaim(dir: string): { spec: CommandSpec; claim: RunnerClaim } | undefined {
  const runner = identify(process.pid);
  const spec = readSpec(dir);
  if (runner === undefined || spec === undefined) return undefined;
  const claim = { id: randomBytes(8).toString('hex'), runner };
  for (;;) {
    const { number } = readClaim(dir);
    if (lookAt(dir, spec).state !== 'waiting') return undefined;
    if (createWhole(files.claim(dir, number + 1), JSON.stringify(claim))) break;
  }
  return existsSync(files.exit(dir)) ? undefined : { spec, claim };
}
