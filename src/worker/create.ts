import type { WorkerRole } from '../domain/queues.js';
import type { LonghaulWorker, WorkerLog, WorkerLogEntry, WorkerOptions } from './types.js';

export type { LonghaulWorker, WorkerLog, WorkerLogEntry, WorkerOptions, WorkerRole };

/**
 * Makes a worker for the server that Temporal's settings name, else for the local service, which is started when needed.
 * It works once it is `run`. Where the program has installed Temporal's `Runtime` itself, that is used, with its logger
 * and its signals.
 *
 * @throws LonghaulError `temporal-unreachable`, `bad-settings`, or one of the journal's
 * @example
 * const worker = await createWorker({ host: 'build-7', signals: ['SIGTERM'] });
 * await worker.run();
 */
export async function createWorker(options: WorkerOptions = {}): Promise<LonghaulWorker> {
  const { openWorker } = await import('../worker.js');
  return openWorker(options);
}
