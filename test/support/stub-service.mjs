// The service with a worker that only says that it is ready: for tests of the service itself, run from dist.
import { foreground, serviceExitCode } from '../../dist/service/foreground.js';

const worker = process.env.STUB_WORKER ?? 'process.send({ type: "ready" }); setInterval(() => {}, 1000);';
try {
  await foreground({
    home: process.env.LONGHAUL_HOME,
    env: process.env,
    workerCommand: [process.execPath, '-e', worker],
  });
  process.exit(0);
} catch (err) {
  process.exit(serviceExitCode(err));
}
