import { LonghaulError } from '../domain/errors.js';
import { BUSY_EXIT } from './service.js';
import { runSupervisor, type SupervisorOptions } from './supervisor.js';

/** Runs the service in this process until SIGINT, SIGTERM or SIGHUP. Throws as {@link runSupervisor} does. */
export async function foreground(options: Omit<SupervisorOptions, 'signal'>): Promise<void> {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const name of signals) process.on(name, end);
  try {
    await runSupervisor({ ...options, signal: stop.signal });
  } finally {
    for (const name of signals) process.off(name, end);
  }
}

/** Exit code of the service process for what ended it. */
export function serviceExitCode(err: unknown): number {
  return LonghaulError.is(err) && err.slug === 'service-busy' ? BUSY_EXIT : 1;
}
