import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, type FakeModel, finish, type Step } from '../../src/fake-model/index.js';
import type { ServiceState } from '../../src/service/service.js';
import { readState } from '../../src/service/state.js';
import { homePaths } from '../../src/settings/paths.js';
import { type CliOptions, type CliResult, cleanEnv, markedProcesses, modelEnv, ROOT, runCli, until } from './world.js';

/** A home of its own with the local service as people have it: started by the command line, on the real server. */
export interface ServiceHome {
  home: string;
  env: NodeJS.ProcessEnv;
  cli(args: string[], options?: CliOptions): Promise<CliResult>;
  /** A new folder. */
  workspace(): string;
  /** The running service, as soon as it is ready and has both children. */
  state(): Promise<RunningState>;
  /** Pids of all processes that have this home in their environment, in ascending order. */
  pids(): number[];
  /** Those of them that are a service, a Temporal server or a worker. */
  servicePids(): number[];
  /** Starts a task and returns when it waits for an answer. @returns its id */
  waitingTask(): Promise<string>;
  /** Ends the service, and fails when a process is left. */
  stop(): Promise<void>;
}

export type RunningState = ServiceState & { temporalPid: number; workerPid: number };

/** Asks a question, then completes with what it was told. */
export const asksOnce = ({ turn, lastResult }: { turn: number; lastResult: string }): Step[] =>
  turn === 0
    ? [call('ask_followup_question', { question: 'Tabs or spaces?', options: ['tabs', 'spaces'] }), finish()]
    : [call('attempt_completion', { result: `told: ${lastResult}` }), finish()];

/** @param name of the home's folder, in a new one */
export function serviceHome(model: FakeModel, name = 'home'): ServiceHome {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-service-'));
  const home = join(folder, name);
  const env = { ...modelEnv(cleanEnv(), model), LONGHAUL_HOME: home };
  const cli = (args: string[], options: CliOptions = {}): Promise<CliResult> =>
    runCli(args, { ...env, ...options.env }, options);
  const pids = (): number[] => markedProcesses(`LONGHAUL_HOME=${home}\0`).sort((a, b) => a - b);
  const workspace = (): string => mkdtempSync(join(folder, 'ws-'));
  return {
    home,
    env,
    cli,
    workspace,
    pids,
    servicePids: () => pids().filter((pid) => /service\/main\.js|start-dev|\0worker\0/.test(commandLine(pid))),
    state: () =>
      until(() => {
        const state = readState(homePaths(home));
        return state?.temporalPid && state.workerPid ? (state as RunningState) : undefined;
      }, 60_000),
    waitingTask: async () => {
      const { code, lines, err } = await cli(['run', 'Ask.', '--json', '--workspace', workspace()]);
      const task = lines[0]?.task;
      if (code !== 3 || typeof task !== 'string') throw new Error(`the task does not wait: ${code} ${err}`);
      return task;
    },
    stop: async () => {
      await cli(['down']);
      const left = pids();
      for (const pid of left) process.kill(pid, 'SIGKILL');
      rmSync(folder, { recursive: true, force: true });
      if (left.length > 0) throw new Error(`left running: ${left.join(', ')}`);
    },
  };
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** The pids of a service and its children, in ascending order. */
export const pidsOf = ({ pid, temporalPid, workerPid }: RunningState): number[] =>
  [pid, temporalPid, workerPid].sort((a, b) => a - b);

export interface PackageCopy {
  root: string;
  /** Its `bin/longhaul.js`. */
  command: string;
  remove(): void;
}

/** Another installation of this package. @param migrations steps that its journal schema has in addition */
export function packageCopy({
  version,
  build,
  migrations = 0,
}: {
  version: string;
  build: string;
  migrations?: number;
}): PackageCopy {
  const root = mkdtempSync(join(tmpdir(), 'longhaul-package-'));
  for (const name of ['bin', 'dist', 'docs']) cpSync(join(ROOT, name), join(root, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const json = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as object;
  writeFileSync(join(root, 'package.json'), JSON.stringify({ ...json, version }));
  writeFileSync(join(root, 'dist', 'build.json'), JSON.stringify({ version, build }));
  const file = join(root, 'dist', 'journal', 'migrations', 'index.js');
  const steps = Array.from(
    { length: migrations },
    (_, n) => `async (tx) => { await tx.schema.createTable('later_${n}').addColumn('id', 'integer').execute(); }`,
  );
  writeFileSync(file, `${readFileSync(file, 'utf8')}\nJOURNAL_MIGRATIONS.push(${steps.join(', ')});\n`);
  mkdirSync(join(root, 'examples'), { recursive: true });
  return {
    root,
    command: join(root, 'bin', 'longhaul.js'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
