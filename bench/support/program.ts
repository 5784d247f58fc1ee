import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { BenchFailed } from './report.js';

const RUNNER = fileURLToPath(new URL('../../scripts/run-typescript.mjs', import.meta.url));

export interface Program<First> {
  pid: number;
  /** Its first line, which is JSON. */
  first: First;
  stop(): Promise<void>;
}

/** Starts a TypeScript program of this folder in a process of its own. @throws BenchFailed when it ends at once */
export async function startProgram<First>(
  file: URL,
  args: string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Program<First>> {
  const child = spawn(process.execPath, [RUNNER, fileURLToPath(file), ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const began = await Promise.race([line, exited.then(() => undefined)]);
  if (began === undefined) throw new BenchFailed(`${fileURLToPath(file)} ended with code ${child.exitCode}.`);
  return {
    pid: child.pid!,
    first: JSON.parse(began[0]) as First,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await exited;
    },
  };
}
