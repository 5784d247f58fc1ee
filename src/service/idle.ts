import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { LonghaulError } from '../domain/errors.js';
import { OPEN_STATUSES } from '../domain/outcomes.js';
import { openJournal } from '../journal/open.js';
import { LOCAL_SERVER } from '../journal/rows.js';

export interface IdleWatch {
  signal: AbortSignal;
  /** From `idleLimit`. */
  limitMs: number;
  home: string;
  /** Where the server is now. */
  server: () => { address: string; namespace: string } | undefined;
  /** From now on no command finds the service. */
  withdraw: () => void;
  /** The service is to be found again. */
  restore: () => void;
}

const DEFAULT_MINUTES = 30;
const LOOK_EVERY_MS = 60_000;

/** ms that a command gets which has found the service just before it was withdrawn, to start its task. */
const SETTLE_MS = 3_000;

/**
 * ms without an open task after which a service ends: `LONGHAUL_IDLE_MINUTES`, else 30 minutes; 0 means never.
 * @throws LonghaulError `bad-settings`
 */
export function idleLimit(env: NodeJS.ProcessEnv): number {
  const text = env.LONGHAUL_IDLE_MINUTES?.trim() || String(DEFAULT_MINUTES);
  const minutes = Number(text);
  if (!(minutes >= 0)) {
    throw new LonghaulError('bad-settings', `LONGHAUL_IDLE_MINUTES is "${text}", which is not a number of minutes.`, {
      next: 'Set it to a number, 0 for never, or unset it.',
    });
  }
  return minutes === 0 ? Number.POSITIVE_INFINITY : minutes * 60_000;
}

/** Resolves, with the reason for the log, when the service shall end: told to, or no task open for long enough. */
export async function watchIdle(watch: IdleWatch): Promise<string> {
  const { signal, limitMs } = watch;
  const pause = (ms: number) => sleep(ms, undefined, { signal }).catch(() => undefined);
  let lastBusy = Date.now();
  while (!signal.aborted) {
    await pause(Math.min(LOOK_EVERY_MS, limitMs));
    if (signal.aborted) break;
    if ((await openWorkflows(watch.server())) !== 0) lastBusy = Date.now();
    if (Date.now() - lastBusy < limitMs) continue;
    watch.withdraw();
    await pause(SETTLE_MS);
    if (signal.aborted) break;
    if ((await openTasks(watch.home)) === 0 && (await openWorkflows(watch.server())) === 0)
      return `no task has been open for ${limitMs / 60_000} minutes`;
    watch.restore();
    lastBusy = Date.now();
  }
  return 'told to';
}

/** How many workflows are open; undefined when the server does not say. */
async function openWorkflows(server: { address: string; namespace: string } | undefined): Promise<number | undefined> {
  if (!server) return undefined;
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ address: server.address, connectTimeout: 5_000 });
    const { count } = await connection.workflowService.countWorkflowExecutions({
      namespace: server.namespace,
      query: 'ExecutionStatus = "Running"',
    });
    return Number(count);
  } catch {
    return undefined;
  } finally {
    await connection?.close();
  }
}

/** Tasks that the journal has open, also those whose workflow is only about to start; 0 when it cannot be read. */
async function openTasks(home: string): Promise<number> {
  try {
    const journal = await openJournal({ home, readonly: true });
    try {
      const rows = await journal.listTasks({ statuses: [...OPEN_STATUSES] });
      return rows.filter(({ server }) => server === LOCAL_SERVER).length;
    } finally {
      await journal.close();
    }
  } catch {
    return 0;
  }
}
