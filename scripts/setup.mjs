import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isBuilt, readOrEmpty, root } from './inputs.mjs';
import { noteWorkProcess, withSetupLock } from './lock.mjs';

const INSTALL_STAMP = join(root, 'node_modules', '.longhaul-installed');

/** A step that failed and has already said so; `code` is the exit code to end with. */
export class StepFailed extends Error {
  constructor(code) {
    super('a set-up step failed');
    this.code = code;
  }
}

/** Makes the checkout usable: packages as locked, dist as the sources say. Both only when needed. */
export async function prepare() {
  if (isInstalled() && isBuilt()) return;
  await withSetupLock(
    async () => {
      if (!isInstalled()) await install();
      if (!isBuilt()) await build();
    },
    (pid) => note(`Another set-up of this folder is running (process ${pid}); waiting for it.`),
  );
}

/**
 * Finds, or fetches once, Temporal's executables; the result is the environment that names them.
 * `kinds`: `temporal` (the command line with its server), `testServer` (the time-skipping one).
 */
export async function withBinaries(kinds) {
  const { findTemporal, findTestServer } = await import('../dist/devserver/binary.js');
  const options = { env: process.env, home: longhaulHome(), log: note };
  const env = { ...process.env };
  try {
    if (kinds.includes('temporal')) env.LONGHAUL_TEMPORAL_CLI = await findTemporal(options);
    if (kinds.includes('testServer')) env.LONGHAUL_TEST_SERVER = await findTestServer(options);
  } catch (err) {
    console.error(`error: ${err.message}`);
    if (err.kept) console.error(`kept:  ${err.kept}`);
    if (err.next) console.error(`next:  ${err.next}`);
    if (err.slug) console.error(`page:  docs/errors/${err.slug}.md`);
    throw new StepFailed(1);
  }
  return env;
}

/** A line about the set-up itself; stdout stays for what the command prints. */
export function note(line) {
  process.stderr.write(`${line}\n`);
}

function longhaulHome() {
  const home = process.env.LONGHAUL_HOME?.trim();
  return home ? resolve(home) : join(homedir(), '.longhaul');
}

const lockedPackages = () => readFileSync(join(root, 'package-lock.json'));

/** A native package built for one platform is of no use on another that shares the folder. */
function wantedStamp() {
  const hash = createHash('sha256').update(lockedPackages()).digest('hex');
  return `${hash} ${process.platform}-${process.arch}`;
}

function isInstalled() {
  if (readOrEmpty(INSTALL_STAMP) === wantedStamp()) return true;
  if (existsSync(INSTALL_STAMP) || !installedByHand()) return false;
  writeFileSync(INSTALL_STAMP, wantedStamp());
  return true;
}

/** npm notes what it has installed: equal to the lock, it need not be done again. */
function installedByHand() {
  const text = readOrEmpty(join(root, 'node_modules', '.package-lock.json'));
  if (text === '') return false;
  const here = JSON.parse(text).packages;
  const wanted = Object.entries(JSON.parse(lockedPackages().toString()).packages).filter(([path]) => path !== '');
  return wanted.every(([path, { version, optional }]) => here[path]?.version === version || (optional && !here[path]));
}

async function install() {
  await step('Installing packages (npm ci, about half a minute)', npm(), [
    'ci',
    '--include=dev',
    // none of the packages needs one, and some would download
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
  ]);
  writeFileSync(INSTALL_STAMP, wantedStamp());
}

async function build() {
  await step('Building (some seconds)', [process.execPath], [join(root, 'scripts', 'build.mjs')]);
}

/** npm as a command: the one that runs this script, else the one on PATH. */
function npm() {
  const running = process.env.npm_execpath;
  if (running && /npm-cli\.js$/.test(running)) return [process.execPath, running];
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm'];
}

/** Runs a quiet step: one line about it, its whole output when it fails. */
async function step(title, [command, ...before], args) {
  const began = Date.now();
  process.stderr.write(`${title} ... `);
  const { code, output } = await captured(command, [...before, ...args]);
  process.stderr.write(code === 0 ? `done in ${((Date.now() - began) / 1000).toFixed(1)} s\n` : 'failed\n');
  if (code === 0) return;
  process.stderr.write(`${output.trimEnd()}\n`);
  throw new StepFailed(code);
}

function captured(command, args) {
  return new Promise((done) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: command.endsWith('.cmd'),
    });
    if (child.pid !== undefined) noteWorkProcess(child.pid);
    let output = '';
    const take = (chunk) => {
      output += chunk;
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.on('error', (err) => done({ code: 1, output: `${command}: ${err.message}` }));
    child.on('close', (code) => done({ code: code ?? 1, output }));
  });
}
