import { createHmac, randomBytes } from 'node:crypto';
import { delimiter, resolve } from 'node:path';

/**
 * What of its environment a service has, for those who call it from another one. Values can hold credentials, so they
 * are kept as short hashes under a salt: enough to see that two differ, too little to find one.
 */
export interface EnvironmentRecord {
  salt: string;
  /** Eight hex digits by name; a variable that is not set is missing. */
  hashes: Record<string, string>;
}

/** Variables that decide how tasks run. Those of the provider are not among them: they travel with each task. */
const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'];
const SERVICE_SETTINGS = [
  'LONGHAUL_DEBUG',
  'LONGHAUL_HOST',
  'LONGHAUL_IDLE_LIMIT_MS',
  'LONGHAUL_IDLE_MINUTES',
  'LONGHAUL_STREAM_LIMIT_MS',
  'LONGHAUL_TEMPORAL_CLI',
  'LONGHAUL_TEMPORAL_PORT',
  'LONGHAUL_UI_PORT',
];
const COMPARED = [
  'PATH',
  ...PROXIES.flatMap((name) => [name, name.toLowerCase()]),
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  ...SERVICE_SETTINGS,
];

/** A service always has this one: who names none takes what the service has found. */
const ONLY_WHEN_SET = ['LONGHAUL_TEMPORAL_CLI'];

export function recordEnvironment(env: NodeJS.ProcessEnv, salt = randomBytes(16).toString('hex')): EnvironmentRecord {
  const hashes: Record<string, string> = {};
  for (const name of COMPARED) {
    const value = comparable(name, env[name]?.trim() ?? '');
    if (value !== '') hashes[name] = createHmac('sha256', salt).update(`${name}\0${value}`).digest('hex').slice(0, 8);
  }
  return { salt, hashes };
}

/** Names of the variables that this environment has otherwise than the recorded one, also those that only one has. */
export function environmentDifferences(service: EnvironmentRecord, env: NodeJS.ProcessEnv): string[] {
  const own = recordEnvironment(env, service.salt).hashes;
  return COMPARED.filter((name) => own[name] !== service.hashes[name]).filter(
    (name) => own[name] !== undefined || !ONLY_WHEN_SET.includes(name),
  );
}

/** What npm puts in front of PATH for the length of one script. */
const OF_NPM = /[/\\]node_modules[/\\](\.bin|npm[/\\]node_modules[/\\]@npmcli[/\\]run-script[/\\].*)$/;

function comparable(name: string, value: string): string {
  if (name === 'LONGHAUL_TEMPORAL_CLI') return value && resolve(value);
  if (name !== 'PATH') return value;
  const folders = value.split(delimiter).filter((folder) => folder !== '' && !OF_NPM.test(folder));
  return [...new Set(folders)].join(delimiter);
}
