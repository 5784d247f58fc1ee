import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { EMBEDDED_VARIABLE } from '../service/service.js';
import type { CommandSpec } from './layout.js';
import { CALL_MARKER, TASK_MARKER } from './processes.js';

/** Secrets of Longhaul and its provider, which no command gets. `spec.scrub` adds names to these. */
export const SCRUBBED_VARIABLES: readonly string[] = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'TEMPORAL_API_KEY',
  'TEMPORAL_TLS_CLIENT_CERT_DATA',
  'TEMPORAL_TLS_CLIENT_KEY_DATA',
  'LONGHAUL_JOURNAL_URL',
];

/** Belong to the worker's own process; a Node program that inherits them misbehaves. */
const INTERNAL_VARIABLES: readonly string[] = ['NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE', 'NODE_UNIQUE_ID'];

/** Set by the service for its own worker only: they lead to Longhaul's own Temporal server. */
const SERVICE_VARIABLES: readonly string[] = [EMBEDDED_VARIABLE, 'TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'];

/** Programs that would wait for a person get something that ends at once. */
const UNATTENDED: Readonly<Record<string, string>> = {
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GH_PAGER: 'cat',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  AWS_PAGER: '',
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_EDITOR: 'true',
  GIT_SEQUENCE_EDITOR: 'true',
  GIT_TERMINAL_PROMPT: '0',
  SSH_ASKPASS_REQUIRE: 'never',
  GCM_INTERACTIVE: 'never',
  PIP_NO_INPUT: '1',
  DEBIAN_FRONTEND: 'noninteractive',
  GH_PROMPT_DISABLED: '1',
};

/** A secret shorter than this is not searched for in other variables: it would match by chance. */
const MIN_SECRET = 8;

/** An environment without the secrets and without their copies under other names. @param scrub more names of secrets */
export function withoutSecrets(own: NodeJS.ProcessEnv, scrub: readonly string[] = []): Record<string, string> {
  const names = new Set([...SCRUBBED_VARIABLES, ...scrub]);
  const secrets = [...names].map((name) => own[name]?.trim() ?? '').filter((value) => value.length >= MIN_SECRET);
  const kept = Object.entries(own).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !names.has(entry[0]) && !secrets.some((secret) => entry[1]?.includes(secret)),
  );
  return Object.fromEntries(kept);
}

/**
 * The environment of a command: the worker's own without secrets, such that nothing waits for a person, with the
 * markers by which its processes are found. A variable that holds a scrubbed secret under another name goes too.
 */
export function commandEnvironment(
  own: NodeJS.ProcessEnv,
  spec: Pick<CommandSpec, 'task' | 'call' | 'env' | 'scrub' | 'cwd'>,
): Record<string, string> {
  const internal = own[EMBEDDED_VARIABLE] ? [...INTERNAL_VARIABLES, ...SERVICE_VARIABLES] : INTERNAL_VARIABLES;
  const env = withoutSecrets({ ...own, ...spec.env }, spec.scrub);
  for (const name of internal) delete env[name];
  return { ...env, ...UNATTENDED, PWD: spec.cwd, [CALL_MARKER]: spec.call, [TASK_MARKER]: spec.task };
}

/** bash where there is one, else sh. @param path the PATH variable */
export function findShell(path: string | undefined): string {
  const dirs = [...(path ?? '').split(delimiter), '/bin', '/usr/bin', '/usr/local/bin'];
  const bash = dirs
    .filter((dir) => dir.startsWith('/'))
    .map((dir) => join(dir, 'bash'))
    .find((file) => existsSync(file));
  return bash ?? '/bin/sh';
}
