#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const entry = new URL('../dist/cli/main.js', import.meta.url);

if (major < 20 || (major === 20 && minor < 3)) {
  console.error(`error: Longhaul needs Node 20.3 or later; this is ${process.versions.node}.`);
  console.error('next:  Install a current Node from https://nodejs.org and try again.');
  console.error(`page:  ${fileURLToPath(new URL('../docs/errors/node-version.md', import.meta.url))}`);
  process.exitCode = 1;
} else if (!existsSync(entry)) {
  console.error('error: Longhaul is not built yet.');
  console.error(
    'next:  Run `npm start` in its folder (installs, builds and plays the demo), or `npm ci && npm run build`.',
  );
  process.exitCode = 1;
} else {
  const { runProcess } = await import(entry.href);
  await runProcess();
}
