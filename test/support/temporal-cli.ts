import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import type { World } from './world.js';

const run = promisify(execFile);

/** Temporal's own command line, on the world's server. @throws what it prints when it fails */
export function temporalCli({ server }: Pick<World, 'server'>, ...args: string[]): Promise<{ stdout: string }> {
  return run(inject('temporalCli'), [...args, '--address', server.address, '--namespace', server.namespace]);
}

/** An update of a task. @param input JSON of its argument; undefined: without one */
export function updateByCli(world: World, task: string, name: string, input?: string): Promise<{ stdout: string }> {
  const given = input === undefined ? [] : ['-i', input];
  return temporalCli(world, 'workflow', 'update', 'execute', '--name', name, '-w', task, ...given);
}
