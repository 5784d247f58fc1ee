import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { cp, mkdtemp, readdir, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { StartedTask } from '../client.js';
import { LonghaulError } from '../domain/errors.js';
import { EXIT } from '../domain/outcomes.js';
import { readScript, startFakeModel } from '../fake-model/index.js';
import { chooseProfile, PROFILE_VARIABLE } from '../model/named-profiles.js';
import { longhaulHome } from '../settings/paths.js';
import { homeProfile } from '../settings/read.js';
import { calledAs } from './called-as.js';
import { endWith, reportUncaught } from './ending.js';
import { badFlag } from './flags.js';
import { wrap } from './flow.js';
import { type Io, painter, printLine, processIo, textWidth } from './io.js';
import { neutralise } from './neutral.js';
import { reportError } from './report.js';
import { runCommand } from './run.js';

const USAGE = 'Say `npm start`, or `npm start -- "PROMPT" [--workspace DIR]`.';
const EXAMPLE = fileURLToPath(new URL('../../examples/slugify/', import.meta.url));
const PROMPT = 'The tests of this project fail. Find out why, fix the code, and run the tests.';
const INTRODUCTION =
  'The model is scripted: its answers come from examples/slugify/model.script, through a local server that speaks the ' +
  'Messages API. Everything else is real: the Temporal server, the worker, the edits, the commands.';

/** Without a terminal the first option is taken after this time. */
const ANSWER_AFTER_MS = 3000;
/** Folders that a copy of one's own project can do without. */
const NOT_COPIED = new Set(['node_modules']);

/** `demo` and `npm start`: the example with a scripted model; `npm start` with a prompt: a task of one's own. */
export async function demo(argv: readonly string[], io: Io): Promise<number> {
  const { prompt, workspace } = readDemoArgs(argv);
  if (prompt === undefined && workspace === undefined) return await example(io);
  return await ownTask(io, prompt, workspace);
}

async function example(io: Io): Promise<number> {
  const paint = painter(io.colour);
  const folder = await copied(join(EXAMPLE, 'workspace'));
  printLine(io, paint('bold', 'Longhaul demo: a small project with a failing test is repaired.'));
  printLine(io, wrap(INTRODUCTION, Math.min(textWidth(io), 116)));
  if (!io.interactive) printLine(io, 'There is no terminal, so its question gets its first option after 3 seconds.');
  printLine(io, '');
  const before = await runTests(io, folder, 'before');
  const model = await startFakeModel({ script: await readScript(join(EXAMPLE, 'model.script')) });
  let started: StartedTask | undefined;
  let code: number;
  try {
    const withModel: Io = { ...io, env: { ...io.env, ...scriptedProvider(model.url) } };
    code = await runCommand(withModel, longhaulHome(io.env), PROMPT, {
      workspace: folder,
      approve: ['read', 'edit', 'all'],
      // its model knows only its own script
      settingsFiles: false,
      // its model ends with this command
      detachable: false,
      onStart: (task) => {
        started = task;
      },
      ...(io.interactive ? {} : { onAsk: 'default' as const, defaultDelayMs: ANSWER_AFTER_MS }),
    });
  } finally {
    await model.close();
  }
  if (code !== 0) {
    const how = code === EXIT.aborted ? 'The task was aborted' : 'The task did not complete';
    printLine(io, paint('red', `${how}; the project is as it left it.`));
    farewell(io, 'The project:         ', folder, started);
    return code;
  }
  const after = await runTests(io, folder, 'after');
  const repaired = before !== 0 && after === 0;
  farewell(io, repaired ? 'The repaired project:' : 'The project:         ', folder, started);
  if (repaired) return 0;
  printLine(io, paint('red', before === 0 ? 'The test passed before the task began.' : 'The test still fails.'));
  return 1;
}

async function ownTask(io: Io, prompt: string | undefined, workspace: string | undefined): Promise<number> {
  if (prompt === undefined)
    throw badFlag('--workspace needs a prompt.', 'Say `npm start -- "What to do" --workspace DIR`.');
  const home = longhaulHome(io.env);
  if (!chooseProfile(home, io.env, undefined, await homeProfile(home))) {
    throw new LonghaulError('no-api-key', 'A task of your own needs a model, and ANTHROPIC_API_KEY is not set.', {
      kept: 'Nothing was started.',
      next: 'Set it and try again; `npm start` alone plays the demo without a key.',
    });
  }
  const folder = workspace === undefined ? await copied(io.cwd) : resolve(io.cwd, workspace);
  if (workspace === undefined) printLine(io, `Working in a copy of ${io.cwd}: ${folder}`);
  return await runCommand(io, home, prompt, { workspace: folder });
}

/** @returns the real path of a copy in a new temporary folder */
async function copied(source: string): Promise<string> {
  const target = await realpath(await mkdtemp(join(tmpdir(), 'longhaul-')));
  for (const name of await readdir(source)) {
    if (!NOT_COPIED.has(name))
      await cp(join(source, name), join(target, name), { recursive: true, verbatimSymlinks: true });
  }
  return target;
}

/** The caller's own provider settings play no part in the demo. */
function scriptedProvider(url: string): NodeJS.ProcessEnv {
  return {
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'scripted',
    ANTHROPIC_AUTH_TOKEN: undefined,
    [PROFILE_VARIABLE]: undefined,
  };
}

async function runTests(io: Io, folder: string, when: 'before' | 'after'): Promise<number> {
  const paint = painter(io.colour);
  const { code, output } = await nodeTest(folder, io.env);
  const failed = /^# fail (\d+)/m.exec(output)?.[1] ?? '?';
  const passed = /^# pass (\d+)/m.exec(output)?.[1] ?? '?';
  printLine(
    io,
    paint(code === 0 ? 'green' : 'red', `node --test, ${when} the task: ${passed} passed, ${failed} failed`),
  );
  for (const line of neutralise(output).split('\n')) {
    if (/^\s*(not ok|ok) /.test(line)) printLine(io, `  ${line.trim()}`);
  }
  printLine(io, '');
  return code;
}

function nodeTest(folder: string, env: NodeJS.ProcessEnv): Promise<{ code: number; output: string }> {
  // set by an outer `node --test`; it would make this one report in another form
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...rest } = env;
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, ['--test', '--test-reporter=tap'], {
      cwd: folder,
      env: rest,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.once('error', failed);
    child.once('close', (code) => done({ code: code ?? 1, output }));
  });
}

function farewell(io: Io, name: string, folder: string, started: StartedTask | undefined): void {
  printLine(io, `${name} ${folder}`);
  if (started) printLine(io, `All about the task:   ${io.command} show ${started.task}`);
  if (started?.ui) printLine(io, `In Temporal's UI:     ${started.ui}`);
  printLine(io, `Stop the service:     ${io.command} down`);
}

function readDemoArgs(argv: readonly string[]): { prompt?: string; workspace?: string } {
  let parsed: { values: { workspace?: string | undefined }; positionals: string[] };
  try {
    parsed = parseArgs({
      args: [...argv],
      options: { workspace: { type: 'string', short: 'w' } },
      allowPositionals: true,
    });
  } catch (err) {
    // Node's advice about options that are none does not fit here
    throw badFlag(err instanceof Error ? err.message.replace(/\. To specify .*/s, '.') : String(err), USAGE);
  }
  const [prompt, ...more] = parsed.positionals;
  if (more.length > 0) throw badFlag('npm start takes one prompt.', 'Put quotes around it.');
  const { workspace } = parsed.values;
  return { ...(prompt === undefined ? {} : { prompt }), ...(workspace === undefined ? {} : { workspace }) };
}

/** Runs the demo in this process, and ends it. */
async function runDemo(): Promise<void> {
  // npm changes to the package's folder; this is where the person is
  const cwd = process.env.INIT_CWD ?? process.cwd();
  const io: Io = { ...processIo(), cwd, command: calledAs(process.argv[1], cwd) };
  reportUncaught(io, false);
  await endWith(demo(process.argv.slice(2), io).catch((err) => reportError(io, err, false)));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await runDemo();
