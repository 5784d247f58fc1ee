import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { retriesUntilClosed } from './closed-channel.js';

/** Makes a call that is tried again and again, gives it up, and closes the connection. @returns what was thrown where nobody catches it */
async function thrownAfterClose(interceptors: ReturnType<typeof retriesUntilClosed>): Promise<string[]> {
  const thrown: string[] = [];
  const before = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (err) => thrown.push(err.message));
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException');
    for (const listener of before) process.on('uncaughtException', listener);
  });
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const connection = Connection.lazy({ address: `127.0.0.1:${port}`, interceptors });
  for (let n = 0; n < 20; n++) {
    const call = () => connection.workflowService.getSystemInfo({});
    await connection.withDeadline(Date.now() + 20 * n, call).catch(() => undefined);
  }
  const last = connection.withDeadline(Date.now() + 400, () => connection.workflowService.getSystemInfo({}));
  last.catch(() => undefined);
  await sleep(150);
  await connection.close();
  await sleep(2_000);
  server.close();
  return thrown;
}

it('a retry that is due after the connection was closed throws nothing', async () => {
  expect(await thrownAfterClose([makeGrpcRetryInterceptor(defaultGrpcRetryOptions())])).not.toEqual([]);
  expect(await thrownAfterClose(retriesUntilClosed())).toEqual([]);
}, 30_000);
