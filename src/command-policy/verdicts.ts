import type { CommandRules } from '../domain/policy.js';
import type { IgnoredFiles } from './ignored-files.js';

/** What a command line is judged by. */
export interface PolicyContext {
  /** Real path of the workspace, where the line runs. */
  workspace: string;
  /** The environment that the command gets. */
  env: NodeJS.ProcessEnv;
  /** A command has to be let through by each of them. */
  rules: readonly CommandRules[];
  ignored: IgnoredFiles;
  /** The line is run by bash. */
  bash: boolean;
}

/** Why one simple command of a line does not run unasked. */
export interface Reason {
  /** As it is written. */
  command: string;
  why: string;
}

/**
 * `unasked`: it only reads, and needs nobody (`outside`: things outside of the workspace). `ask`: a person decides, or who
 * approves all commands; `person`: only a person, since there are rules that it could not be held to. `denied`: a rule
 * forbids it.
 */
export type Judgement =
  | { verdict: 'unasked'; outside: boolean }
  | { verdict: 'ask'; person: boolean; reasons: Reason[] }
  | { verdict: 'denied'; reasons: Reason[] };

/** What one set of rules makes of a command. */
export type Ruled = { as: 'allowed' } | { as: 'unclear' | 'denied'; why: string };

/** What was found out about one simple command, or about a piece of syntax that stands for itself. */
export interface Part {
  command: string;
  /** Why it is not known to only read. */
  unsafe?: string;
  /** It reads outside of the workspace. */
  outside?: boolean;
  /** Forbidden whatever the rules say. */
  forbidden?: string;
  /** One for each set of rules. */
  ruled: Ruled[];
}

export const ALLOWED: Ruled = { as: 'allowed' };

/** The strictest of what is said. */
export function strictest(all: readonly Ruled[]): Ruled {
  return all.find(({ as }) => as === 'denied') ?? all.find(({ as }) => as === 'unclear') ?? ALLOWED;
}

/** For what cannot be seen: denied where only what is allowed may run, for a person to decide where something is denied. */
export function unclear({ allow, deny }: CommandRules, why: string): Ruled {
  if (!allow && !deny?.length) return ALLOWED;
  return allow ? { as: 'denied', why: `${why}, and only what the rules allow may run` } : { as: 'unclear', why };
}
