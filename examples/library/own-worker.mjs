// Runs a worker in this process, and a task on it. With TEMPORAL_ADDRESS the worker serves that server; without, it is
// one more beside the local service's own.
//
//   node own-worker.mjs FOLDER "PROMPT"
import { hostname } from 'node:os';
import { createWorker, TaskClient } from 'longhaul';

const [workspace = '.', prompt = 'Say in a few sentences what this project does.'] = process.argv.slice(2);

const worker = await createWorker({
  host: process.env.LONGHAUL_HOST ?? `${hostname()}-own`,
  signals: ['SIGINT', 'SIGTERM'],
  log: ({ level, message }) => console.error(`${level} ${message}`),
});
const running = worker.run();
console.log(`worker ${worker.host} at ${worker.address}`);

const client = await TaskClient.connect();
try {
  const { task } = await client.start({ prompt, workspace });
  // a worker that fails ends the wait
  const end = await Promise.race([client.result(task), running.then(() => undefined)]);
  console.log(end ? end.outcome : `the worker was told to end; task ${task} goes on with the next one`);
} finally {
  await client.close();
  await worker.shutdown();
}
await running;
