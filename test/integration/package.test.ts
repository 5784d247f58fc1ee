import { chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { call, type FakeModelOptions, finish, type Step, say, startFakeModel } from '../../src/fake-model/index.js';
import { writeConsumer } from '../support/consumer.js';
import {
  copyForAll,
  fetched,
  filesOf,
  installGlobally,
  nodeOf,
  npm,
  openFolder,
  pack,
  type Ran,
  repack,
  run,
  setWritable,
  startShippedModel,
} from '../support/package.js';
import { startTestServer } from '../support/temporal.js';
import { ROOT } from '../support/world.js';

const NOBODY = 65_534;
const root = process.getuid?.() === 0;
const here = ROOT.replace(/\/$/, '');

/** A turn with a tool call, a question where one is wanted, and the end. */
const work = (question?: string): FakeModelOptions => ({
  responder: ({ turn }): Step[] => {
    if (turn === 0) return [say('I read it.'), call('read_file', { path: 'a.txt' }), finish()];
    if (turn === 1 && question) return [call('ask_followup_question', { question }), finish()];
    return [call('attempt_completion', { result: 'All read.' }), finish()];
  },
});

/** Says so where people see it: what was not tested must not look as if it had passed. */
function notTested({ skip, task }: TestContext, why: string): never {
  const said = `not tested: ${task.name}: ${why}`;
  console.warn(said);
  return skip(said);
}

describe('the package', () => {
  const folder = openFolder();
  const prefix = join(folder, 'global folder');
  const installed = join(prefix, 'lib', 'node_modules', 'longhaul');
  const command = join(prefix, 'bin', 'longhaul');
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const homes: { env: NodeJS.ProcessEnv; cwd: string }[] = [];
  let tarball: string;

  beforeAll(async () => {
    tarball = await pack(folder);
    await installGlobally(tarball, prefix, '--ignore-scripts');
  }, 300_000);
  afterAll(async () => {
    for (const at of homes) await run(process.execPath, [command, 'down'], at).catch(() => undefined);
    setWritable(prefix, true);
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  /** A person's own surroundings: an empty folder to be in, a home, nothing of this checkout. */
  const person = (more: NodeJS.ProcessEnv = {}, uid?: number) => {
    const cwd = join(folder, `person ${homes.length}`);
    mkdirSync(join(cwd, 'workspace'), { recursive: true });
    copyFileSync(join(ROOT, 'LICENSE'), join(cwd, 'workspace', 'a.txt'));
    if (uid !== undefined) for (const path of [cwd, join(cwd, 'workspace')]) chownSync(path, uid, uid);
    const { PATH, LONGHAUL_TEMPORAL_CLI } = process.env;
    const env = { PATH, HOME: cwd, LONGHAUL_HOME: join(cwd, 'state'), LONGHAUL_TEMPORAL_CLI, LANG: 'C.UTF-8', ...more };
    const at = { env, cwd, ...(uid === undefined ? {} : { uid }) };
    homes.push(at);
    return at;
  };
  const withModel = (url: string) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'any' });
  const checked = (ran: Ran, code = 0): string => {
    expect(ran).toMatchObject({ code });
    expect(ran.out + ran.err).not.toContain(here);
    return ran.out;
  };
  const lastLine = (out: string) => JSON.parse(out.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;

  /** From the first look to a finished task, with the model that ships; everything runs under that Node. */
  const smoke = async (node: string, uid?: number) => {
    const at = person({}, uid);
    const longhaul = (...args: string[]) => run(node, [command, ...args], at);
    expect(checked(await longhaul('--version')).trim()).toBe(version);
    expect(checked(await longhaul('--help'))).toContain('Exit codes:');
    const running = checked(await run(node, ['-p', 'process.versions.node'], at)).trim();
    expect(lastLine((await longhaul('doctor', '--offline', '--json')).out)).toMatchObject({
      node: running,
      longhaul: version,
    });
    const log = join(at.cwd, 'requests');
    const calls = ['--calls', '1', '--call', 'read_file {"path":"a.txt"}', '--log', log];
    const model = startShippedModel(node, installed, calls, at);
    try {
      Object.assign(at.env, withModel(await model.url));
      const ran = await longhaul('run', 'Read a.txt.', '--workspace', 'workspace', '--yolo', '--json');
      expect(lastLine(checked(ran))).toMatchObject({ type: 'outcome', outcome: 'completed' });
      expect(readFileSync(log, 'utf8').trim().split('\n')).toHaveLength(2);
      const { tasks } = lastLine(checked(await longhaul('tasks', '--json'))) as { tasks: { status: string }[] };
      expect(tasks.map(({ status }) => status)).toEqual(['completed']);
      checked(await longhaul('down'));
    } finally {
      await model.end();
    }
  };

  it('holds what people need and nothing of where it was made', async () => {
    const files = filesOf(installed).map((path) => path.slice(installed.length + 1));
    for (const name of ['README.md', 'LICENSE', 'CHANGELOG.md', 'docs/cli.md', 'examples/slugify/model.script']) {
      expect(files).toContain(name);
    }
    expect(files).toContain('docs/errors/no-api-key.md');
    const surplus = /\.map$|^dist\/.*\.test\.|(?<!\.d)\.ts$|^(src|test|scripts)\//;
    expect(files.filter((name) => surplus.test(name))).toEqual([]);
    const withPaths = files.filter((name) => readFileSync(join(installed, name), 'latin1').includes(here));
    expect(withPaths).toEqual([]);
    const [, map = ''] = readFileSync(join(installed, 'dist/workflow-bundle.js'), 'latin1').split(';base64,');
    const { sources } = JSON.parse(Buffer.from(map.trim(), 'base64').toString()) as { sources: string[] };
    expect(sources).toContain('dist/workflows/task.js');
    expect(sources.filter((source) => source.startsWith('/') || source.startsWith('..'))).toEqual([]);
  });

  it('is installed whole, and brings no install script of its own', async () => {
    const listed = JSON.parse(await npm(['ls', '--global', '--prefix', prefix, '--all', '--json'], folder));
    expect(listed.problems ?? []).toEqual([]);
    expect(listed.dependencies.longhaul.version).toBe(version);
    expect(checked(await run(command, ['--version'], person())).trim()).toBe(version);
    const { scripts } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    expect(Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  });

  it.for([20, 22, 24])('works under Node %i', { timeout: 180_000 }, async (major, context) => {
    const node = await nodeOf(major, folder);
    if ('why' in node) return notTested(context, `Node ${major}: ${node.why}`);
    await smoke(node.path);
  });

  it("works from a folder that one cannot write, in another's installation", { timeout: 120_000 }, async (context) => {
    const uid = root ? NOBODY : undefined;
    const { LONGHAUL_TEMPORAL_CLI: own = '' } = process.env;
    setWritable(prefix, false);
    try {
      if (uid !== undefined) {
        const reachable = await run(process.execPath, ['--version'], { cwd: '/', env: {}, uid }).catch(() => undefined);
        if (reachable?.code !== 0) return notTested(context, 'another user: it cannot run this Node');
        process.env.LONGHAUL_TEMPORAL_CLI = copyForAll(own, join(folder, 'temporal'));
      }
      await smoke(process.execPath, uid);
    } finally {
      process.env.LONGHAUL_TEMPORAL_CLI = own;
      setWritable(prefix, true);
    }
  });

  it('shows where a workflow stands by files of the package', { timeout: 120_000 }, async () => {
    const model = await startFakeModel(work('Which one?'));
    const at = person(withModel(model.url));
    const longhaul = (...args: string[]) => run(process.execPath, [command, ...args], at);
    const started = checked(await longhaul('run', 'Go.', '-w', 'workspace', '--json'), 3);
    const { task } = lastLine(started) as { task: string };
    const { temporal } = lastLine((await longhaul('doctor', '--offline', '--json')).out) as {
      temporal: { address: string };
    };
    const connection = await Connection.connect({ address: temporal.address });
    const stack = await new Client({ connection }).workflow.getHandle(task).query<string>('__stack_trace');
    expect(stack).toMatch(/\(dist\/workflows\/\w+\.js:\d+:\d+\)/);
    expect(stack).not.toContain(here);
    await connection.close();
    checked(await longhaul('down'));
    await model.close();
  });

  describe('as a library', () => {
    const consumer = join(folder, 'consumer');
    let configs: string[];
    beforeAll(() => {
      configs = writeConsumer(consumer, installed);
    });

    it.for([7, 5])(
      'has types for TypeScript %i, however it resolves modules',
      { timeout: 180_000 },
      async (major, context) => {
        const own = { folder: join(ROOT, 'node_modules', 'typescript') };
        const compiler = major === 7 ? own : await fetched('typescript@5.9', 'typescript', join(folder, 'typescript'));
        if ('why' in compiler) return notTested(context, `TypeScript ${major}: ${compiler.why}`);
        const tsc = join(compiler.folder, 'bin', 'tsc');
        const at = { cwd: consumer, env: process.env };
        expect((await run(process.execPath, [tsc, '--version'], at)).out).toMatch(new RegExp(`Version ${major}\\.`));
        for (const config of configs) {
          expect(await run(process.execPath, [tsc, '-p', config], at)).toEqual({ code: 0, out: '', err: '' });
        }
      },
    );

    const example = (name: string, at: { cwd: string; env: NodeJS.ProcessEnv }) => {
      const script = join(consumer, `${name}.mjs`);
      if (!existsSync(script)) copyFileSync(join(installed, 'examples', 'library', `${name}.mjs`), script);
      return run(process.execPath, [script, 'workspace', 'Read a.txt.'], at);
    };

    it('starts a task, follows it and answers its ask', { timeout: 120_000 }, async () => {
      const model = await startFakeModel(work('Which one?'));
      const at = person(withModel(model.url));
      const out = checked(await example('start-and-answer', at));
      expect(out).toContain('I read it.');
      expect(out).toContain('followup: Which one?');
      expect(out).toMatch(/completed after 3 turns\nAll read\.\n$/);
      expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('Decide for yourself.');
      expect(model.refused()).toEqual([]);
      checked(await run(process.execPath, [command, 'down'], at));
      await model.close();
    });

    it('runs a worker in a program of its own, on a server that has no other', { timeout: 120_000 }, async () => {
      const server = await startTestServer();
      const model = await startFakeModel(work());
      const at = person({ ...withModel(model.url), TEMPORAL_ADDRESS: server.address });
      try {
        const out = checked(await example('own-worker', at));
        expect(out).toMatch(new RegExp(`^worker .+-own at ${server.address}\ncompleted\n$`));
      } finally {
        await model.close();
        await server.stop();
      }
    });
  });

  // last: it replaces what is installed
  it('keeps a task that waits on an ask through an upgrade', { timeout: 240_000 }, async () => {
    const next = version.replace(/\d+$/, (patch) => String(Number(patch) + 1));
    const newer = await repack(tarball, next, join(folder, 'newer'));
    const model = await startFakeModel(work('Which one?'));
    const at = person(withModel(model.url));
    const longhaul = (...args: string[]) => run(process.execPath, [command, ...args], at);
    const { task } = lastLine(checked(await longhaul('run', 'Go.', '-w', 'workspace', '--json'), 3)) as {
      task: string;
    };
    checked(await longhaul('down'));
    await installGlobally(newer, prefix);
    expect(checked(await longhaul('--version')).trim()).toBe(next);
    checked(await longhaul('up'));
    const { asks } = lastLine(checked(await longhaul('show', task, '--json'))) as { asks: { id: string }[] };
    expect(asks).toHaveLength(1);
    checked(await longhaul('answer', task, asks[0]?.id ?? '', 'the first'));
    const end = lastLine(checked(await longhaul('attach', task, '--json')));
    expect(end).toMatchObject({ type: 'outcome', outcome: 'completed', turns: 3 });
    expect(lastLine((await longhaul('doctor', '--offline', '--json')).out)).toMatchObject({ longhaul: next });
    expect(model.requests).toHaveLength(3);
    checked(await longhaul('down'));
    await model.close();
  });
});
