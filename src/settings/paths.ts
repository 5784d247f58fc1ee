import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** Where Longhaul keeps everything: `$LONGHAUL_HOME`, or `~/.longhaul`. */
export function longhaulHome(env: NodeJS.ProcessEnv = process.env): string {
  const home = env.LONGHAUL_HOME?.trim();
  return home ? resolve(home) : join(homedir(), '.longhaul');
}

/** Files and folders inside the home, by purpose. */
export function homePaths(home: string) {
  return {
    home,
    journal: join(home, 'journal.db'),
    partials: join(home, 'partials.db'),
    blobs: join(home, 'blobs'),
    bin: join(home, 'bin'),
    commands: join(home, 'commands'),
    profiles: join(home, 'profiles'),
    settings: join(home, 'settings.json'),
    logs: join(home, 'logs'),
    temporalDb: join(home, 'temporal.db'),
    service: join(home, 'service.json'),
    serviceLock: join(home, 'service.lock'),
    serviceChildren: join(home, 'service.children.json'),
    serviceFailure: join(home, 'service.failure.json'),
    temporalLock: join(home, 'temporal.lock'),
    temporalPorts: join(home, 'temporal.ports.json'),
  };
}
export type HomePaths = ReturnType<typeof homePaths>;
