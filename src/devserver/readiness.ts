import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection, ConnectionOptions } from '@temporalio/client';
import { NAMESPACE, RETENTION_HOURS } from './flags.js';

export interface ServingWait {
  address: string;
  port: number;
  /** Settles when the server process ends. */
  exited: Promise<unknown>;
  timeoutMs: number;
}

/** Waits until the server's namespace can be described; false when the process ends or the time is over. */
export async function waitUntilServing({ address, port, exited, timeoutMs }: ServingWait): Promise<boolean> {
  let ended = false;
  void exited.then(() => {
    ended = true;
  });
  const until = Date.now() + timeoutMs;
  while (!ended && Date.now() < until) {
    if ((await accepts(port)) && (await describes(address)) && !ended) return true;
    await sleep(25);
  }
  return false;
}

/** Sets how long closed workflows are kept. */
export async function prepareNamespace(address: string): Promise<void> {
  const { msToTs } = await import('@temporalio/common/lib/time.js');
  const connection = await connectTo({ address });
  try {
    const wanted = msToTs(RETENTION_HOURS * 3_600_000);
    const { config } = await connection.workflowService.describeNamespace({ namespace: NAMESPACE });
    if (config?.workflowExecutionRetentionTtl?.seconds?.toString() === wanted.seconds?.toString()) return;
    await connection.workflowService.updateNamespace({
      namespace: NAMESPACE,
      config: { workflowExecutionRetentionTtl: wanted },
    });
  } finally {
    await connection.close();
  }
}

/** Loads Temporal's client when there is something to connect to: commands that only read need none. */
async function connectTo(options: ConnectionOptions): Promise<Connection> {
  const { Connection } = await import('@temporalio/client');
  return Connection.connect(options);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const answer = (open: boolean): void => {
      socket.destroy();
      done(open);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
    socket.setTimeout(1_000, () => answer(false));
  });
}

async function describes(address: string): Promise<boolean> {
  let connection: Connection | undefined;
  try {
    connection = await connectTo({ address, connectTimeout: 2_000 });
    const open = connection;
    await open.withDeadline(Date.now() + 2_000, () => open.workflowService.describeNamespace({ namespace: NAMESPACE }));
    return true;
  } catch {
    return false;
  } finally {
    await connection?.close();
  }
}
