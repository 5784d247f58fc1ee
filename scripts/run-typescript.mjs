// Runs a TypeScript program of this checkout: node scripts/run-typescript.mjs FILE [arguments].
// It has to export `main(args)`, which resolves to the exit code.
import { resolve } from 'node:path';
import { createServer } from 'vite';
import { root } from './inputs.mjs';

const [file = '', ...args] = process.argv.slice(2);
const vite = await createServer({
  configFile: false,
  root,
  appType: 'custom',
  logLevel: 'error',
  optimizeDeps: { noDiscovery: true },
  server: { middlewareMode: true, hmr: false, ws: false, watch: null },
});
const { main } = await vite.environments.ssr.runner.import(resolve(file));
process.exitCode = await main(args);
// closed at the end only: programs load modules when they need them
await vite.close();
process.exit();
