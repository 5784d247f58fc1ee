import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { WORKER_SETTINGS } from '../../src/worker.js';
import * as activities from './activities.js';

/** Runs the worker of the bare workflow with the settings of the product's worker. Arguments: address, task queue. */
export async function main([address = '', taskQueue = '']: string[]): Promise<number> {
  const logger = new DefaultLogger('WARN');
  Runtime.install({ logger });
  const workflowsPath = fileURLToPath(new URL('./workflows.ts', import.meta.url));
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger });
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({ ...WORKER_SETTINGS, connection, taskQueue, workflowBundle, activities });
  process.once('SIGTERM', () => worker.shutdown());
  const running = worker.run();
  process.stdout.write('{}\n');
  await running;
  await connection.close();
  return 0;
}
