import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createActivities } from '../../src/activities/index.js';
import { TASK_QUEUE } from '../../src/domain/queues.js';
import { DEFAULT_TASK_SETTINGS } from '../../src/domain/settings.js';
import type { TaskInput } from '../../src/domain/task.js';
import { call, type FakeModel, finish, startFakeModel } from '../../src/fake-model/index.js';
import type { Journal } from '../../src/journal/journal.js';
import { openJournal } from '../../src/journal/open.js';
import { saveProfile } from '../../src/model/profiles.js';
import type { taskWorkflow } from '../../src/workflows/task.js';
import { ROOT, until } from '../support/world.js';

/** A worker of one home gets the tasks of another: somebody has set LONGHAUL_HOME wrongly. */
describe('a task whose journal is not where the worker is', () => {
  const homes = ['right', 'wrong'].map((name) => mkdtempSync(join(tmpdir(), `longhaul-${name}-`)));
  const [home = '', otherHome = ''] = homes;
  let env: TestWorkflowEnvironment;
  let journal: Journal;
  let other: Journal;
  let model: FakeModel;

  beforeAll(async () => {
    const telemetryOptions = { logging: { filter: 'ERROR', forward: {} } };
    Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions });
    env = await TestWorkflowEnvironment.createTimeSkipping({
      server: { executable: { type: 'existing-path', path: inject('testServer') } },
    });
    await env.connection.operatorService.addSearchAttributes({
      namespace: 'default',
      searchAttributes: { LonghaulStatus: 2, LonghaulAsk: 2, LonghaulWaitingSince: 6 },
    });
    journal = await openJournal({ home });
    other = await openJournal({ home: otherHome });
    model = await startFakeModel({ responder: () => [call('attempt_completion', { result: 'done' }), finish()] });
  });
  afterAll(async () => {
    await model?.close();
    await env?.teardown();
    await journal?.close();
    await other?.close();
    for (const one of homes) rmSync(one, { recursive: true, force: true });
  });

  const workerOn = async (held: Journal, itsHome: string) => {
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue: TASK_QUEUE,
      workflowBundle: { codePath: join(ROOT, 'dist', 'workflow-bundle.js') },
      activities: createActivities({ journal: held, home: itsHome, env: {} }),
      // this server never gives a sticky task of a worker that is gone to another
      maxCachedWorkflows: 0,
    });
    const running = worker.run();
    return async () => {
      worker.shutdown();
      await running;
    };
  };
  const start = async (task: string) => {
    const input: TaskInput = {
      v: 1,
      task,
      journal: journal.id,
      workspace: join(home, task),
      epoch: 0,
      prompt: await journal.putBlob('Do it.'),
      settings: {
        ...DEFAULT_TASK_SETTINGS,
        model: 'claude-sonnet-5',
        profile: await saveProfile(home, { baseURL: model.url, apiKey: 'k' }),
        policy: { yolo: true, approve: [] },
        limits: {},
      },
    };
    const { workspace } = input;
    await journal.createTask({ task, workspace, model: 'm', title: 't', input: JSON.stringify(input) });
    const options = { args: [input] as [TaskInput], taskQueue: TASK_QUEUE, workflowId: task };
    const handle = await env.client.workflow.start<typeof taskWorkflow>('taskWorkflow', options);
    const parked = () =>
      until(async () => {
        const status = await handle.query<{ status: string; asks: { question: string }[] }>('status');
        return status.status === 'parked' ? status : undefined;
      });
    return { handle, parked };
  };

  it('is parked, and goes on by itself once a worker with the right one is there', async () => {
    const stop = await workerOn(other, otherHome);
    const { handle, parked } = await start('t-back');
    expect((await parked()).asks[0]?.question).toMatch(/belongs to journal .* Look for it again\?/);
    await stop();
    const stopRight = await workerOn(journal, home);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
    expect((await journal.getTask('t-back'))?.status).toBe('completed');
    await stopRight();
  });

  it('is ended by a person, or aborted, all the same', async () => {
    const stop = await workerOn(other, otherHome);
    const ended = await start('t-ended');
    await ended.parked();
    await ended.handle.executeUpdate('answer', { args: ['no'] });
    await expect(ended.handle.result()).rejects.toMatchObject({ cause: { type: 'journal_lost' } });
    const aborted = await start('t-aborted');
    await aborted.parked();
    await aborted.handle.cancel();
    await expect(aborted.handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    await stop();
  });
});
