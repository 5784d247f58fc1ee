import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { countTests } from './count.mjs';
import { root } from './inputs.mjs';
import { note, prepare, StepFailed, withBinaries } from './setup.mjs';

const COMMANDS = { demo, test, check, verify, bench, chaos, record, build: async () => 0 };

/** Sets the checkout up as far as needed, runs the command and ends with its exit code. */
export async function main([name = '', ...args]) {
  if (!Object.hasOwn(COMMANDS, name)) {
    note(`usage: node scripts/bootstrap.mjs ${Object.keys(COMMANDS).join(' | ')} [arguments]`);
    process.exitCode = 2;
    return;
  }
  try {
    await prepare();
    process.exitCode = await COMMANDS[name](args[0] === '--' ? args.slice(1) : args);
  } catch (err) {
    if (!(err instanceof StepFailed)) throw err;
    if (name === 'test' || name === 'verify') {
      note('The tests were not run.');
      process.stdout.write('\n0 passed, 1 failed\n');
    }
    process.exitCode = err.code;
  }
}

async function demo(args) {
  const env = process.env.TEMPORAL_ADDRESS ? process.env : await withBinaries(['temporal']);
  return run([join(root, 'dist', 'cli', 'demo.js'), ...args], env, process.cwd());
}

async function test(args) {
  const scratch = mkdtempSync(join(tmpdir(), 'longhaul-tests-'));
  const env = { ...impersonal(await withBinaries(['temporal', 'testServer'])), LONGHAUL_HOME: join(scratch, 'home') };
  const results = join(scratch, 'results.json');
  try {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const json = join(root, 'scripts', 'json-reporter.mjs');
    const reporters = ['--reporter=default', `--reporter=${json}`, `--outputFile.json=${results}`];
    const code = await run([vitest, 'run', ...reporters, ...args], env);
    const { passed, failed } = countTests(results, code);
    process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
    return code === 0 && failed > 0 ? 1 : code;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function bench(args) {
  // without a name they are only listed
  const named = args.some((arg) => !arg.startsWith('-'));
  const env = named ? await withBinaries(['temporal']) : process.env;
  return run([join(root, 'scripts', 'run-typescript.mjs'), join(root, 'bench', 'main.ts'), ...args], env);
}

/** Kills the worker of a small task at every point. */
async function chaos(args) {
  const script = join(root, 'test', 'chaos', 'main.ts');
  return run([join(root, 'scripts', 'run-typescript.mjs'), script, ...args], await withBinaries(['temporal']));
}

/** Records the histories that every build has to be able to replay. */
async function record() {
  const script = join(root, 'test', 'replay', 'record.ts');
  return run([join(root, 'scripts', 'run-typescript.mjs'), script], await withBinaries(['temporal']));
}

/** The environment without what would lead tests to a person's server, provider or money. */
function impersonal(env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(TEMPORAL|ANTHROPIC)_/.test(name)));
}

/** Format, lint and types: all of `verify` but the tests. */
async function check() {
  note('Format and lint:');
  const lint = await run([join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome'), 'check', '.']);
  note('Types:');
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const types = await run([tsc, '--noEmit', '-p', 'tsconfig.test.json']);
  note(types === 0 ? 'no errors' : 'failed');
  return lint || types;
}

async function verify(args) {
  const checks = await check();
  const tests = await test(args);
  if (checks !== 0) note('Format, lint or types failed; see above.');
  return tests || checks;
}

/** Runs a Node script with this process's terminal. Resolves to its exit code, 128 + n after signal n. */
function run(args, env = process.env, cwd = root) {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, args, { cwd, env, stdio: 'inherit' });
    // a terminal sends SIGINT to the child as well: passed on, it would count twice
    const ignore = () => {};
    const passOn = (signal) => child.kill(signal);
    process.on('SIGINT', ignore);
    process.on('SIGTERM', passOn);
    process.on('SIGHUP', passOn);
    child.on('error', fail);
    child.on('exit', (code, signal) => {
      process.off('SIGINT', ignore);
      process.off('SIGTERM', passOn);
      process.off('SIGHUP', passOn);
      done(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}
