import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { identify, isDead, parseStat, readText } from './identity.js';

/** Variables by which every descendant of a command is found, also one that left its group, session and parent. */
export const CALL_MARKER = 'LONGHAUL_CALL';
export const TASK_MARKER = 'LONGHAUL_TASK';

export interface ProcessInfo {
  pid: number;
  parent: number;
  /** Where the system does not say: the process group */
  session: number;
  start: string;
  call?: string;
  task?: string;
}

/** Which processes to look for. */
export interface Quarry {
  /** True for a process that carries the markers looked for. */
  marked(info: ProcessInfo): boolean;
  /** The session of a command: finds those who cleared their environment but stayed. */
  session?: { leader: number; start: string };
  /** Never returned. Oneself never is. */
  spare?: readonly number[];
}

/** All processes that can be seen, without zombies. Costs about 0.05 ms a process. */
export function listProcesses(): ProcessInfo[] {
  return process.platform === 'linux' ? listLinux() : listByPs();
}

/** Finds processes by marker or session, and all their descendants. `known` are those found before: their children count. */
export function findProcesses(quarry: Quarry, known: ReadonlyMap<number, string> = new Map()): ProcessInfo[] {
  const all = listProcesses();
  const exempt = new Set([process.pid, 1, ...(quarry.spare ?? [])]);
  const leader = quarry.session && all.find((info) => info.pid === quarry.session?.leader);
  const session = leader && leader.start !== quarry.session?.start ? undefined : quarry.session?.leader;
  const found = new Map<number, ProcessInfo>();
  for (const info of all) {
    const hit = quarry.marked(info) || known.get(info.pid) === info.start || info.session === session;
    if (hit && !exempt.has(info.pid)) found.set(info.pid, info);
  }
  for (let grown = true; grown; ) {
    grown = false;
    for (const info of all) {
      if (found.has(info.pid) || exempt.has(info.pid) || !found.has(info.parent)) continue;
      found.set(info.pid, info);
      grown = true;
    }
  }
  return [...found.values()];
}

/** How long a process may take to obey TERM, ms. */
export const TERM_GRACE_MS = 2000;
/** How long KILL is repeated before giving up (a process in an uninterruptible wait cannot be killed), ms. */
const KILL_LIMIT_MS = 5000;

/** TERM to all, after {@link TERM_GRACE_MS} KILL, until none is left. @returns how many are left, normally 0 */
export async function endProcesses(quarry: Quarry, graceMs = TERM_GRACE_MS): Promise<number> {
  const known = new Map<number, string>();
  const asked = new Set<number>();
  const killFrom = Date.now() + graceMs;
  for (let pause = 10; ; pause = Math.min(pause * 2, 80)) {
    const living = findProcesses(quarry, known);
    if (living.length === 0) return 0;
    const kill = Date.now() >= killFrom;
    if (Date.now() > killFrom + KILL_LIMIT_MS) return living.length;
    for (const { pid, start } of living) {
      known.set(pid, start);
      if (!kill && asked.has(pid)) continue;
      asked.add(pid);
      send(pid, kill ? 'SIGKILL' : 'SIGTERM');
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Sends a signal; a process that is gone or not ours is passed over. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone, or not ours
  }
}

function listLinux(): ProcessInfo[] {
  const infos: ProcessInfo[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const text = readText(`/proc/${pid}/stat`);
    const stat = text === undefined ? undefined : parseStat(text);
    if (stat === undefined || isDead(stat.state)) continue;
    const { parent, session, start } = stat;
    infos.push({ pid, parent, session, start, ...readMarkers(pid) });
  }
  return infos;
}

function readMarkers(pid: number): Pick<ProcessInfo, 'call' | 'task'> {
  let environ: Buffer;
  try {
    environ = readFileSync(`/proc/${pid}/environ`);
  } catch {
    return {};
  }
  return markers((name) => {
    const wanted = Buffer.from(`${name}=`);
    for (let at = environ.indexOf(wanted); at >= 0; at = environ.indexOf(wanted, at + 1)) {
      if (at !== 0 && environ[at - 1] !== 0) continue;
      const end = environ.indexOf(0, at);
      return environ.toString('utf8', at + wanted.length, end < 0 ? environ.length : end);
    }
    return undefined;
  });
}

function markers(find: (name: string) => string | undefined): Pick<ProcessInfo, 'call' | 'task'> {
  const call = find(CALL_MARKER);
  const task = find(TASK_MARKER);
  return { ...(call !== undefined && { call }), ...(task !== undefined && { task }) };
}

/** `ps` prints the environment behind the command line, separated by blanks only. */
function listByPs(): ProcessInfo[] {
  const ps = spawnSync('ps', ['axeww', '-o', 'pid=,ppid=,pgid=,stat=,command='], {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  const infos: ProcessInfo[] = [];
  for (const line of (ps.stdout ?? '').split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s(.*)$/.exec(line);
    if (match === null || match[4]?.startsWith('Z')) continue;
    const text = ` ${match[5] ?? ''}`;
    const found = markers((name) => new RegExp(`\\s${name}=(\\S+)`).exec(text)?.[1]);
    const pid = Number(match[1]);
    // asking for the start of every process would cost a process each
    const start = found.call === undefined ? '' : (identify(pid)?.start ?? '');
    infos.push({ pid, parent: Number(match[2]), session: Number(match[3]), start, ...found });
  }
  return infos;
}
