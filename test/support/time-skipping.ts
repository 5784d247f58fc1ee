import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { inject } from 'vitest';
import { createActivities } from '../../src/activities/index.js';
import type { TaskEvent } from '../../src/domain/events.js';
import { TASK_QUEUE } from '../../src/domain/queues.js';
import { DEFAULT_TASK_SETTINGS, type TaskSettings } from '../../src/domain/settings.js';
import type { TaskInput } from '../../src/domain/task.js';
import { type FakeModel, type Responder, startFakeModel } from '../../src/fake-model/index.js';
import type { Journal } from '../../src/journal/journal.js';
import { openJournal } from '../../src/journal/open.js';
import { saveProfile } from '../../src/model/profiles.js';
import type { taskWorkflow } from '../../src/workflows/task.js';
import { ROOT } from './world.js';

export interface SkippedTask {
  task: string;
  workspace: string;
  handle: WorkflowHandleWithFirstExecutionRunId<typeof taskWorkflow>;
  /** ms since the epoch, by the server's clock */
  began: number;
}

/** A server on which waits of days pass in no time, a worker and a journal; all else is as ever. */
export interface SkippingWorld {
  env: TestWorkflowEnvironment;
  journal: Journal;
  model(responder: Responder): Promise<FakeModel>;
  /** Starts a task that asks that address. */
  start(url: string, settings?: Partial<TaskSettings>): Promise<SkippedTask>;
  events(task: string): Promise<TaskEvent[]>;
  stop(): Promise<void>;
}

/** @param env the worker's environment */
export async function startSkippingWorld(env: NodeJS.ProcessEnv = {}): Promise<SkippingWorld> {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: 'ERROR', forward: {} } },
  });
  const home = mkdtempSync(join(tmpdir(), 'longhaul-waits-'));
  const server = await TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path: inject('testServer') } },
  });
  // This server cannot list attributes, so what ensures them elsewhere leaves it alone.
  await server.connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: { LonghaulStatus: 2, LonghaulAsk: 2, LonghaulWaitingSince: 6 },
  });
  const journal = await openJournal({ home });
  const worker = await Worker.create({
    connection: server.nativeConnection,
    taskQueue: TASK_QUEUE,
    workflowBundle: { codePath: join(ROOT, 'dist', 'workflow-bundle.js') },
    activities: createActivities({ journal, home, env }),
  });
  const running = worker.run();
  const models: FakeModel[] = [];
  let tasks = 0;
  return {
    env: server,
    journal,
    model: async (responder) => {
      const model = await startFakeModel({ responder });
      models.push(model);
      return model;
    },
    start: async (url, more = {}) => {
      const task = `waits${++tasks}`;
      const settings: TaskSettings = {
        model: 'claude-sonnet-5',
        profile: await saveProfile(home, { baseURL: url, apiKey: 'k' }),
        policy: { yolo: true, approve: [] },
        limits: {},
        ...DEFAULT_TASK_SETTINGS,
        ...more,
      };
      const workspace = join(home, task);
      mkdirSync(workspace);
      const prompt = await journal.putBlob('Wait.');
      const input: TaskInput = { v: 1, task, journal: journal.id, workspace, epoch: 0, prompt, settings };
      await journal.createTask({ task, workspace, model: 'm', title: 't', input: JSON.stringify(input) });
      const options = { args: [input] as [TaskInput], taskQueue: TASK_QUEUE, workflowId: task };
      const handle = await server.client.workflow.start<typeof taskWorkflow>('taskWorkflow', options);
      return { task, workspace, handle, began: await server.currentTimeMs() };
    },
    events: async (task) => (await journal.readEvents(task, 0, 10_000)).map(({ event }) => event),
    stop: async () => {
      worker.shutdown();
      await running;
      for (const model of models) await model.close();
      await server.teardown();
      await journal.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
