import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import Libsql from 'libsql';
import { type StartRequest, TaskClient } from '../../src/client.js';
import type { StoredEvent, TaskEvent } from '../../src/domain/events.js';
import { type FakeModel, type FakeModelOptions, startFakeModel } from '../../src/fake-model/index.js';
import type { Journal } from '../../src/journal/journal.js';
import { homePaths } from '../../src/settings/paths.js';
import { startTestServer, type TestServer } from './temporal.js';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const COMMAND = join(ROOT, 'bin', 'longhaul.js');

/** All that is allowed inside the workspace. */
export const YOLO = { yolo: true, approve: [] };

/** A worker as people run it: a process of its own. */
export interface TestWorker {
  pid: number;
  /** File with all that it has printed. */
  log: string;
  /** Resolves when it has ended, however. */
  gone: Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** SIGSTOP, at a moment when it does not hold the journal's lock. */
  freeze(): Promise<void>;
  /** SIGKILL, and gone. */
  kill9(): Promise<void>;
  stop(): Promise<void>;
}

/** A Temporal server, a home, and what runs in it; all of it real. */
export interface World {
  home: string;
  server: TestServer;
  temporal: Client;
  journal: Journal;
  env: NodeJS.ProcessEnv;
  /** @param options `node`: flags of Node itself */
  worker(options?: {
    role?: 'all' | 'workflow' | 'host';
    host?: string;
    env?: NodeJS.ProcessEnv;
    node?: string[];
  }): Promise<TestWorker>;
  model(options: FakeModelOptions): Promise<FakeModel>;
  /** A client whose tasks use that model. */
  client(model: Pick<FakeModel, 'url'>): Promise<TaskClient>;
  /** A new folder with these files. */
  workspace(files?: Record<string, string>): string;
  start(
    model: FakeModel,
    request: Partial<StartRequest>,
  ): Promise<{ client: TaskClient; task: string; workspace: string }>;
  /** Waits for an event of the task's log, from the log's beginning. */
  event<T extends TaskEvent>(task: string, is: (event: TaskEvent) => event is T, ms?: number): Promise<T>;
  events(task: string): Promise<StoredEvent[]>;
  /** Waits until the log holds such an event. */
  seen(task: string, is: (event: TaskEvent) => boolean, ms?: number): Promise<TaskEvent>;
  /** Runs the command line to its end. */
  cli(args: string[], options?: CliOptions): Promise<CliResult>;
  stop(): Promise<void>;
}

export interface CliOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  input?: string;
  /** Another installation's command. */
  command?: string;
  onSpawn?: (child: ChildProcess) => void;
}

export interface CliResult {
  code: number | null;
  out: string;
  err: string;
  lines: Record<string, unknown>[];
}

export async function startWorld(): Promise<World> {
  const server = await startTestServer();
  const home = mkdtempSync(join(tmpdir(), 'longhaul-home-'));
  const env: NodeJS.ProcessEnv = {
    ...cleanEnv(),
    LONGHAUL_HOME: home,
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
  };
  const connection = await Connection.connect({ address: server.address });
  const temporal = new Client({ connection, namespace: server.namespace });
  const own = await TaskClient.local({ home, env });
  const endings: (() => Promise<unknown>)[] = [];
  const folders = [home];
  const world: World = {
    home,
    server,
    temporal,
    journal: own.journal,
    env,
    worker: async ({ role = 'all', host, env: more, node = [] } = {}) => {
      const args = [...node, COMMAND, 'worker', '--role', role, ...(host === undefined ? [] : ['--host', host])];
      const worker = await startWorker(args, { ...env, ...more }, join(home, `worker-${role}-${endings.length}.log`));
      endings.push(() => worker.kill9());
      if (role !== 'workflow')
        await until(async () => (await own.journal.liveHosts()).some(({ pid }) => pid === worker.pid));
      return worker;
    },
    model: async (options) => {
      const model = await startFakeModel(options);
      endings.push(() => model.close());
      return model;
    },
    client: async (model) => {
      const client = await TaskClient.connect({ home, env: modelEnv(env, model) });
      endings.push(() => client.close());
      return client;
    },
    workspace: (files = {}) => {
      const folder = mkdtempSync(join(tmpdir(), 'longhaul-ws-'));
      folders.push(folder);
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
      return folder;
    },
    start: async (model, request) => {
      const client = await world.client(model);
      const workspace = request.workspace ?? world.workspace();
      const started = await client.start({ prompt: 'Do it.', policy: YOLO, ...request, workspace });
      return { client, task: started.task, workspace };
    },
    event: (task, is, ms = 30_000) =>
      until(async () => (await own.journal.readEvents(task, 0, 10_000)).map(({ event }) => event).find(is), ms),
    seen: (task, is, ms) => world.event(task, (event): event is TaskEvent => is(event), ms),
    events: (task) => own.journal.readEvents(task, 0, 10_000),
    cli: (args, options) => runCli(args, { ...env, ...options?.env }, options),
    stop: async () => {
      for (const end of endings.reverse()) await end().catch(() => undefined);
      await connection.close();
      await own.close();
      await server.stop();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
  return world;
}

export function modelEnv(env: NodeJS.ProcessEnv, model: Pick<FakeModel, 'url'>): NodeJS.ProcessEnv {
  return { ...env, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'test-key' };
}

export const isClosed = (event: TaskEvent): event is Extract<TaskEvent, { type: 'closed' }> => event.type === 'closed';
export const isAsk = (event: TaskEvent): event is Extract<TaskEvent, { type: 'ask' }> => event.type === 'ask';

/** Polls until there is something. @throws Error after `ms` */
export async function until<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  ms = 30_000,
): Promise<T> {
  for (const end = Date.now() + ms; ; ) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`Nothing came in ${ms} ms: ${look.toString().slice(0, 200)}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Pids of processes that run a command of this call or task, found by the marker in their environment. */
export function markedProcesses(marker: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return readFileSync(`/proc/${name}/environ`, 'utf8').includes(marker) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

export function runCli(args: string[], env: NodeJS.ProcessEnv, options: CliOptions = {}): Promise<CliResult> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, [options.command ?? COMMAND, ...args], {
      cwd: options.cwd ?? tmpdir(),
      env,
    });
    options.onSpawn?.(child);
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    child.stdin.end(options.input ?? '');
    child.once('error', failed);
    child.once('close', (code) => done({ code, out, err, lines: jsonLines(out) }));
  });
}

function jsonLines(out: string): Record<string, unknown>[] {
  return out.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : []));
}

async function startWorker(args: string[], env: NodeJS.ProcessEnv, logFile: string): Promise<TestWorker> {
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', log, log] });
  closeSync(log);
  const gone = new Promise<void>((done) => child.once('exit', () => done()));
  const running = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid!,
    log: logFile,
    gone,
    signal: (name) => void child.kill(name),
    freeze: async () => {
      const { journal, partials } = homePaths(env.LONGHAUL_HOME!);
      for (;;) {
        child.kill('SIGSTOP');
        if ([journal, partials].every(isFree)) return;
        child.kill('SIGCONT');
        await new Promise((done) => setTimeout(done, 20));
      }
    },
    kill9: async () => {
      if (running()) child.kill('SIGKILL');
      await gone;
    },
    stop: async () => {
      if (running()) child.kill('SIGTERM');
      await gone;
    },
  };
}

/** Whether nobody holds the database's write lock. */
function isFree(path: string): boolean {
  const raw = new Libsql(path);
  try {
    raw.exec('BEGIN IMMEDIATE');
    raw.exec('ROLLBACK');
    return true;
  } catch {
    return false;
  } finally {
    raw.close();
  }
}

/** The environment without what would lead to another server, home or provider. */
export function cleanEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(ANTHROPIC_|TEMPORAL_|LONGHAUL_HOME|LONGHAUL_HOST|LONGHAUL_PROFILE|VITEST|NODE_OPTIONS)/.test(name),
  );
  return Object.fromEntries(kept);
}
