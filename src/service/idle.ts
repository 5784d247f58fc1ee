import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';

export interface IdleWatch {
  signal: AbortSignal;
  /** `LONGHAUL_IDLE_MINUTES` replaces the 30 minutes; 0 means never. */
  env: NodeJS.ProcessEnv;
  /** Where the server is now. */
  server: () => { address: string; namespace: string } | undefined;
}

const DEFAULT_MINUTES = 30;
const LOOK_EVERY_MS = 60_000;

/** Resolves, with the reason for the log, when the service shall end: told to, or no task open for long enough. */
export async function watchIdle({ signal, env, server }: IdleWatch): Promise<string> {
  const minutes = Number(env.LONGHAUL_IDLE_MINUTES?.trim() || DEFAULT_MINUTES);
  const limitMs = minutes > 0 ? minutes * 60_000 : Number.POSITIVE_INFINITY;
  let lastBusy = Date.now();
  while (!signal.aborted) {
    await sleep(Math.min(LOOK_EVERY_MS, limitMs), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) break;
    const open = await openWorkflows(server());
    if (open !== 0) lastBusy = Date.now();
    else if (Date.now() - lastBusy >= limitMs) return `no task has been open for ${minutes} minutes`;
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
