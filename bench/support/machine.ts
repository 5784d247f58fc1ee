import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import { packageRoot, packageVersion } from '../../src/service/package.js';
import type { Taken } from './report.js';

/** Versions, machine, command and load: what the figures depend on. `loadBefore` is of {@link load} before the bench. */
export function taken(args: readonly string[], loadBefore: string): Taken {
  const [cpu] = cpus();
  return {
    command: `\`npm run bench -- ${args.join(' ')}\``,
    on: new Date().toISOString().slice(0, 10),
    Longhaul: [packageVersion(), commit()].filter(Boolean).join(' '),
    Node: process.version,
    'Temporal CLI': firstLine(process.env.LONGHAUL_TEMPORAL_CLI ?? 'temporal', ['--version']),
    'Temporal SDK': sdkVersion(),
    machine: `${cpus().length} × ${cpu?.model ?? process.arch}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${release()}`,
    'load average': `${loadBefore} before, ${load()} after`,
  };
}

export function load(): string {
  return loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');
}

function sdkVersion(): string {
  const file = join(packageRoot, 'node_modules', '@temporalio', 'worker', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

function commit(): string {
  const hash = firstLine('git', ['-C', packageRoot, 'rev-parse', '--short', 'HEAD']);
  return hash === '' ? '' : `(${hash})`;
}

function firstLine(command: string, args: string[]): string {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n')[0] ?? '';
  } catch {
    return '';
  }
}
