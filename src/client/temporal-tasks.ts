import {
  isGrpcDeadlineError,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { TASK_QUEUE } from '../domain/queues.js';
import { REFUSALS, type RefusalType } from '../domain/replies.js';
import type { TaskInput } from '../domain/task.js';
import { oneLine } from '../domain/text.js';
import type { Journal } from '../journal/journal.js';
import { LOCAL_SERVER, type TaskRow } from '../journal/rows.js';
import { connectTemporal, type TargetOptions, type TemporalConnection } from '../service/connect.js';
import { ensureSearchAttributes } from '../service/search-attributes.js';
import type { taskWorkflow } from '../workflows/task.js';
import { cutOff, notDoneYet } from './errors.js';
import { reconcile, type WorkflowState } from './reconcile.js';
import { workflowState } from './workflow-state.js';

/** How long an update may wait for a worker, ms. */
export const UPDATE_MS = 10_000;

/** How long the start of a workflow may take; well under the time after which a task without one is ended, ms. */
const START_MS = 20_000;

/** How long the server itself may take to answer, ms. */
const ANSWER_MS = 5_000;

/** gRPC's code for a server that cannot be reached. */
const UNAVAILABLE = 14;

/** Why a call to a task's workflow did not do what it should. */
export type CallFailure =
  | { kind: 'refused'; type: RefusalType; message: string }
  /** No worker took it in time. */
  | { kind: 'timeout' }
  /** There is no such workflow, or it has ended. */
  | { kind: 'ended' }
  /** The server is not there. */
  | { kind: 'unreachable' }
  | { kind: 'other' };

/** Tasks as workflows: the only part of the client that loads Temporal's libraries. */
export class TemporalTasks {
  private constructor(private readonly temporal: TemporalConnection) {}

  /** Connects, and starts the local service where no server is configured. @throws LonghaulError `temporal-unreachable` */
  static async open(options: TargetOptions): Promise<TemporalTasks> {
    const temporal = await connectTemporal(options);
    if (!temporal.embedded) await ensureSearchAttributes(temporal.connection, temporal.namespace);
    return new TemporalTasks(temporal);
  }

  get embedded(): boolean {
    return this.temporal.embedded;
  }

  /** Names the server in the journal. */
  get server(): string {
    const { embedded, address, namespace } = this.temporal;
    return embedded ? LOCAL_SERVER : `${address}/${namespace}`;
  }

  get address(): string {
    return this.temporal.address;
  }

  /** The task's page in Temporal's UI. */
  page(task: string, run: string): string | undefined {
    const { ui, namespace } = this.temporal;
    return ui && `${ui}/namespaces/${namespace}/workflows/${task}/${run}`;
  }

  /** @returns the id of the run */
  async start(input: TaskInput, title: string): Promise<string> {
    const { client, connection } = this.temporal;
    const handle = await connection.withDeadline(Date.now() + START_MS, () =>
      client.workflow.start<typeof taskWorkflow>('taskWorkflow', {
        args: [input],
        taskQueue: TASK_QUEUE,
        workflowId: input.task,
        workflowIdConflictPolicy: 'FAIL',
        staticSummary: oneLine(title, 120),
        staticDetails: `Workspace \`${input.workspace}\` · model \`${input.settings.model}\``,
      }),
    );
    return handle.firstExecutionRunId;
  }

  /**
   * Errors are told apart by {@link callFailure}.
   * @param doneMs how long what was taken may take to be done, where that is longer than a worker may take to take it
   */
  async update<Reply>(task: string, name: string, argument: object, doneMs?: number): Promise<Reply> {
    const { client, connection } = this.temporal;
    const handle = client.workflow.getHandle(task);
    if (doneMs === undefined) {
      return connection.withDeadline(Date.now() + UPDATE_MS, () =>
        handle.executeUpdate<Reply, [object]>(name, { args: [argument] }),
      );
    }
    const taken = await connection.withDeadline(Date.now() + UPDATE_MS, () =>
      handle.startUpdate<Reply, [object]>(name, { args: [argument], waitForStage: 'ACCEPTED' }),
    );
    return connection
      .withDeadline(Date.now() + doneMs, () => taken.result())
      .catch((err: unknown) => {
        throw callFailure(err).kind === 'timeout' ? notDoneYet(task, err) : err;
      });
  }

  /** @throws LonghaulError `temporal-unreachable` */
  async signal(task: string, name: string, argument: object): Promise<void> {
    await this.promptly(() => this.temporal.client.workflow.getHandle(task).signal(name, argument));
  }

  /** @throws LonghaulError `temporal-unreachable` */
  async cancel(task: string): Promise<void> {
    await this.promptly(() => this.temporal.client.workflow.getHandle(task).cancel());
  }

  /** A call that the server answers itself, without a worker. */
  private async promptly<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await this.temporal.connection.withDeadline(Date.now() + ANSWER_MS, call);
    } catch (err) {
      throw isDeadline(err) ? cutOff(err) : err;
    }
  }

  /** Ends the workflow at once, without any work of its own. @returns false when none is open */
  async terminate(task: string): Promise<boolean> {
    const { client, connection } = this.temporal;
    try {
      await connection.withDeadline(Date.now() + UPDATE_MS, () =>
        client.workflow.getHandle(task).terminate('aborted by force'),
      );
      return true;
    } catch (err) {
      if (callFailure(err).kind === 'ended') return false;
      throw err;
    }
  }

  /** What Temporal says of the task's newest run. @throws LonghaulError `temporal-unreachable` */
  look(task: string): Promise<WorkflowState> {
    return this.promptly(() => workflowState(this.temporal.client, task));
  }

  /** Brings the journal in line when the task's workflow has ended without its doing. @returns whether it did */
  reconcile(journal: Journal, row: TaskRow): Promise<boolean> {
    return reconcile({ journal, server: this.server, look: (task) => this.look(task) }, row);
  }

  close(): Promise<void> {
    return this.temporal.close();
  }
}

export function callFailure(err: unknown): CallFailure {
  if (err instanceof WorkflowNotFoundError) return { kind: 'ended' };
  if (err instanceof WorkflowUpdateRPCTimeoutOrCancelledError || isDeadline(err)) return { kind: 'timeout' };
  if (err instanceof WorkflowUpdateFailedError && err.cause instanceof ApplicationFailure) {
    const { type, message } = err.cause;
    // An update that met a run which was just ending.
    if (type === 'AcceptedUpdateCompletedWorkflow') return { kind: 'ended' };
    const known = REFUSALS.find((one) => one === type);
    if (known) return { kind: 'refused', type: known, message };
  }
  if (err instanceof WorkflowUpdateFailedError && err.cause instanceof CancelledFailure) {
    return { kind: 'refused', type: 'TaskClosing', message: 'The task was aborted before that was done.' };
  }
  if (isGrpcServiceError(err) && /already completed|not found/i.test(err.details ?? '')) return { kind: 'ended' };
  if (isUnavailable(err) || (err instanceof Error && isUnavailable(err.cause))) return { kind: 'unreachable' };
  return { kind: 'other' };
}

function isUnavailable(err: unknown): boolean {
  return isGrpcServiceError(err) && err.code === UNAVAILABLE;
}

/** The client wraps what gRPC says. */
function isDeadline(err: unknown): boolean {
  return isGrpcDeadlineError(err) || (err instanceof Error && isGrpcDeadlineError(err.cause));
}
