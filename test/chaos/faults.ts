import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { files } from '../../src/runner/layout.js';
import { readService } from '../../src/service/up.js';
import { homePaths } from '../../src/settings/paths.js';
import { runCli, until } from '../support/world.js';

/** What happens to the processes and the machine of a service. */
export const FAULTS = [
  'worker killed',
  'server killed',
  'worker and server killed',
  'worker stopped',
  'worker told to end',
  'runners killed',
  'all killed',
  'machine restarted',
  'disk full',
  'clock jumped',
] as const;
export type FaultKind = (typeof FAULTS)[number];

/** Faults after which a command's outcome may be unknown: what watched it died, or where its end is written was full. */
export const ENDS_RUNNERS: readonly FaultKind[] = ['runners killed', 'all killed', 'machine restarted'];

/** Longer than heartbeats may stay out, ms. */
const STOP_MS = 18_000;
/** How long the disk is full, ms. */
const FULL_MS = 3_000;

export interface Place {
  home: string;
  env: NodeJS.ProcessEnv;
  /** The home is a file system of its own, which can be filled. */
  ownDisk: boolean;
  /** File that sets the clock of the service's processes, for libfaketime; where that is not installed the clock stays. */
  clock?: string;
}

/** What the clock says instead, one after the other, each for {@link JUMP_MS}. */
const JUMPS = ['+2h', '-30m', '+0'];
const JUMP_MS = 3_000;

/** Faults that can be made here. */
export function possible({ ownDisk, clock }: Place): FaultKind[] {
  return FAULTS.filter(
    (fault) => (fault !== 'disk full' || ownDisk) && (fault !== 'clock jumped' || clock !== undefined),
  );
}

const FAKETIME = ['x86_64', 'aarch64'].map((arch) => `/usr/lib/${arch}-linux-gnu/faketime/libfaketime.so.1`);

/** Variables that let a file set the clock of a process and its children; undefined where that cannot be done. */
export function settableClock(file: string): NodeJS.ProcessEnv | undefined {
  const library = FAKETIME.find((path) => existsSync(path));
  if (library === undefined) return undefined;
  writeFileSync(file, '+0');
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
}

/** @returns from when to when it lasted, ms since the epoch */
export async function strike(fault: FaultKind, place: Place): Promise<{ from: number; to: number }> {
  const { home } = place;
  const service = await until(() => readService(home));
  const from = Date.now();
  const end = (...pids: (number | undefined)[]) => {
    for (const pid of pids) if (pid !== undefined) send(pid, 'SIGKILL');
  };
  switch (fault) {
    case 'worker killed':
      end(service.workerPid);
      break;
    case 'server killed':
      end(service.temporalPid);
      break;
    case 'worker and server killed':
      end(service.workerPid, service.temporalPid);
      break;
    case 'worker stopped':
      if (service.workerPid === undefined) break;
      send(service.workerPid, 'SIGSTOP');
      await sleep(STOP_MS);
      send(service.workerPid, 'SIGCONT');
      break;
    case 'worker told to end':
      if (service.workerPid !== undefined) send(service.workerPid, 'SIGTERM');
      break;
    case 'runners killed':
      end(...runnersOf(home));
      break;
    case 'all killed':
      await endAll(place);
      break;
    case 'machine restarted':
      await endAll(place, () => forgetBoot(home));
      break;
    case 'disk full':
      await fill(home);
      break;
    case 'clock jumped':
      for (const jump of JUMPS) {
        if (place.clock !== undefined) writeFileSync(place.clock, jump);
        await sleep(JUMP_MS);
      }
      break;
  }
  return { from, to: Date.now() };
}

/** Ends every process of the service and all that it has started, and starts the service anew. */
async function endAll({ home, env }: Place, meanwhile = () => {}): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    const left = processesOf(home);
    if (left.length === 0 && tries > 0) break;
    for (const pid of left) send(pid, 'SIGKILL');
    await sleep(50);
  }
  meanwhile();
  await until(async () => (await runCli(['up'], env)).code === 0, 90_000);
}

/** What was written before is of an earlier boot, as after a restart of the machine. */
function forgetBoot(home: string): void {
  const { commands } = homePaths(home);
  if (!existsSync(commands)) return;
  for (const entry of readdirSync(commands, { recursive: true, withFileTypes: true })) {
    const dir = join(entry.parentPath, entry.name);
    if (!entry.isDirectory() || !existsSync(files.spec(dir))) continue;
    const spec = JSON.parse(readFileSync(files.spec(dir), 'utf8')) as { boot: string };
    writeFileSync(files.spec(dir), JSON.stringify({ ...spec, boot: 'an earlier one' }));
  }
}

async function fill(home: string): Promise<void> {
  const path = join(home, 'filler');
  const fd = openSync(path, 'w');
  try {
    const block = Buffer.alloc(1 << 20);
    for (;;) writeSync(fd, block);
  } catch {
    // full now
  } finally {
    closeSync(fd);
  }
  await sleep(FULL_MS);
  rmSync(path, { force: true });
}

const runnersOf = (home: string) => processesOf(home, (line) => line.includes('runner/main.js'));

/** Pids of processes whose environment names this home. */
function processesOf(home: string, isOne: (commandLine: string) => boolean = () => true): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
      if (!environment.includes(`LONGHAUL_HOME=${home}\0`)) return [];
      return isOne(readFileSync(`/proc/${name}/cmdline`, 'utf8')) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended since, by an earlier fault.
  }
}
