import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Names one process for good: a process id alone is given out again. */
export interface ProcessIdentity {
  pid: number;
  /** When it started, in the system's own notation. */
  start: string;
  /** Which boot of the machine it belongs to. */
  boot: string;
}

let boot: string | undefined;

/** The current boot of this machine. Changes with every restart of the kernel. */
export function bootId(): string {
  boot ??= readBootId();
  return boot;
}

function readBootId(): string {
  if (process.platform === 'linux') {
    const id = readText('/proc/sys/kernel/random/boot_id');
    if (id !== undefined) return id.trim();
  }
  return spawnSync('sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8' }).stdout?.trim() || 'unknown';
}

/** @returns undefined when there is no such process, or only its remains (a zombie) */
export function identify(pid: number): ProcessIdentity | undefined {
  const start = process.platform === 'linux' ? linuxStart(pid) : otherStart(pid);
  return start === undefined ? undefined : { pid, start, boot: bootId() };
}

export function isAlive(identity: ProcessIdentity): boolean {
  return identity.boot === bootId() && identify(identity.pid)?.start === identity.start;
}

function linuxStart(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  const fields = stat === undefined ? undefined : parseStat(stat);
  return fields === undefined || isDead(fields.state) ? undefined : fields.start;
}

function otherStart(pid: number): string | undefined {
  const ps = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' });
  const line = ps.stdout?.trim() ?? '';
  return line === '' || line.startsWith('Z') ? undefined : line.replace(/^\S+\s+/, '');
}

/** The fields of /proc/PID/stat that are used here; see proc(5). */
export interface StatFields {
  state: string;
  parent: number;
  session: number;
  start: string;
}

/** The second field is the program's name in parentheses, and may itself hold blanks and parentheses. */
export function parseStat(stat: string): StatFields | undefined {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parent, , session] = fields;
  const start = fields[19];
  if (state === undefined || parent === undefined || session === undefined || start === undefined) return undefined;
  return { state, parent: Number(parent), session: Number(session), start };
}

export function isDead(state: string): boolean {
  return state === 'Z' || state === 'X' || state === 'x';
}

/** @returns undefined when it cannot be read */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
