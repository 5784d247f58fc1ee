import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

let tickMs: number | undefined;

/** ms in one clock tick of /proc. */
function tick(): number {
  tickMs ??= 1000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  return tickMs;
}

/** CPU time of a process and of its children that have ended, user and system, in ms; in steps of a clock tick. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // proc(5): after "pid (name) " comes field 3; utime, stime, cutime and cstime are fields 14 to 17
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((total, ticks) => total + Number(ticks), 0) * tick();
}

/** Memory of a process in MB: all of it, and with shared pages counted in parts. */
export function memoryMb(pid: number): { rss: number; pss: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kb = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]);
  return { rss: kb('Rss') / 1024, pss: kb('Pss') / 1024 };
}
