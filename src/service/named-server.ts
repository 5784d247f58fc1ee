import { existsSync } from 'node:fs';
import { type ClientConnectConfig, loadClientConnectConfig } from '@temporalio/envconfig';
import { LonghaulError, messageOf } from '../domain/errors.js';
import { EMBEDDED_VARIABLE } from './service.js';

/** Temporal's standard variables; any of them means that a person has named a server. */
const STANDARD_VARIABLES = /^TEMPORAL_(ADDRESS|NAMESPACE|API_KEY|TLS|TLS_.+|PROFILE|CONFIG_FILE|GRPC_META_.+)$/;

/** Whether Temporal's standard settings name a server, so that the embedded service is not used. */
export function namesServer(env: NodeJS.ProcessEnv): boolean {
  return env[EMBEDDED_VARIABLE] ? false : loadSettings(env) !== undefined;
}

/** Where the UI of the server that a person has named is, for links: `LONGHAUL_UI_URL`, without a slash at its end. */
export function namedUi(env: NodeJS.ProcessEnv): string | undefined {
  return env.LONGHAUL_UI_URL?.trim().replace(/\/+$/, '') || undefined;
}

/**
 * The service of this machine is of no use where a server is named: nothing would connect to it.
 * @throws LonghaulError `bad-settings`
 */
export function refuseNamedServer(env: NodeJS.ProcessEnv): void {
  if (!namesServer(env)) return;
  const { address = 'localhost:7233' } = loadSettings(env)?.connectionOptions ?? {};
  const names = setVariables(env).flatMap(([name]) => (STANDARD_VARIABLES.test(name) ? [name] : []));
  const setting = names.length > 0 ? names.join(', ') : "Temporal's profile file";
  throw new LonghaulError('bad-settings', `${setting} leads to the server ${address}; the local service is not used.`, {
    kept: 'Nothing was started.',
    next: `Start a worker for that server with \`longhaul worker\`, or unset ${setting} to use the local service.`,
  });
}

/** An empty variable counts as unset, as in a shell script that blanks it. */
function setVariables(env: NodeJS.ProcessEnv): [string, string][] {
  return Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1]?.trim()));
}

/** @returns undefined where no server is named. @throws LonghaulError `bad-settings` */
export function loadSettings(env: NodeJS.ProcessEnv): ClientConnectConfig | undefined {
  const set = setVariables(env);
  const variables = Object.fromEntries(set);
  const file = variables.TEMPORAL_CONFIG_FILE;
  if (file !== undefined && !existsSync(file))
    throw badSettings(`TEMPORAL_CONFIG_FILE names ${file}, which is not there.`);
  let config: ClientConnectConfig;
  try {
    config = loadClientConnectConfig({ overrideEnvVars: variables });
  } catch (err) {
    throw badSettings(`Temporal's settings cannot be used: ${messageOf(err)}`);
  }
  const named = set.some(([name]) => STANDARD_VARIABLES.test(name));
  return named || config.connectionOptions.address !== undefined ? config : undefined;
}

function badSettings(message: string): LonghaulError {
  return new LonghaulError('bad-settings', message, {
    next: 'Correct the TEMPORAL_* variables or the profile file; without any, the embedded service is used.',
  });
}
