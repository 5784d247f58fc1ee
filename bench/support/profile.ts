import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { BenchOptions } from './options.js';

/** Flags of Node for a worker that writes a V8 CPU profile when it ends, if that is wanted. */
export function profiling({ cpuProfile }: BenchOptions): string[] {
  if (cpuProfile === undefined) return [];
  const folder = resolve(cpuProfile);
  mkdirSync(folder, { recursive: true });
  return ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}
