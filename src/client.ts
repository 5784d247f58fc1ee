import { randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  type Client,
  isGrpcDeadlineError,
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type Answer, type Ask, MAX_INLINE_ANSWER } from './domain/asks.js';
import { LonghaulError } from './domain/errors.js';
import { MAX_TEXT_BYTES } from './domain/limits.js';
import { isOpen } from './domain/outcomes.js';
import { type ApprovalPolicy, DEFAULT_APPROVALS } from './domain/policy.js';
import { TASK_QUEUE } from './domain/queues.js';
import type { CarriedState, TaskInput, TaskLimits, TaskSettings } from './domain/task.js';
import { oneLine } from './domain/text.js';
import type { Journal, TaskRow } from './journal/journal.js';
import { openJournal } from './journal/open.js';
import { DEFAULT_MODEL } from './model/prices.js';
import { ENV_PROFILE, isUsable, profileFromEnv, saveProfile } from './model/profiles.js';
import { connectTemporal, type TemporalConnection } from './service/connect.js';
import { ensureSearchAttributes } from './service/search-attributes.js';
import { longhaulHome } from './settings/paths.js';
import {
  type AnswerReply,
  ASK_REFUSED,
  BAD_MESSAGE,
  type SendReply,
  TASK_BUSY,
  TASK_CLOSING,
} from './workflows/definitions.js';
import type { taskWorkflow } from './workflows/task.js';
import { checkWorkspace } from './workspace/check.js';

/** What a task is started with. */
export interface StartRequest {
  prompt: string;
  /** Folder on this machine; its real path is taken. */
  workspace: string;
  /** Default `claude-sonnet-5`. */
  model?: string;
  policy?: ApprovalPolicy;
  limits?: TaskLimits;
  maxConsecutiveMistakes?: number;
}

export interface StartedTask {
  task: string;
  /** Real path. */
  workspace: string;
  model: string;
  /** Page of the task in Temporal's UI, when there is one. */
  ui?: string;
}

/** `delivered`: the workflow took it; `left`: no worker answered, so it waits as a signal and is judged later. */
export interface AnswerReceipt {
  ask: string | undefined;
  state: 'delivered' | 'left';
}

/** `queued` for the next request of a running task, or a follow-up run of a closed one was started. */
export interface SendReceipt {
  state: 'queued' | 'follow_up';
}

export interface ClientOptions {
  /** Default: `LONGHAUL_HOME`, else `~/.longhaul`. */
  home?: string;
  env?: NodeJS.ProcessEnv;
}

/** How long an update may wait for a worker before something else is done. */
const UPDATE_MS = 10_000;
/** How long a message waits for a task that is just ending. */
const CLOSING_MS = 30_000;

/**
 * Starts tasks and talks to them.
 *
 * @example
 * const client = await TaskClient.connect();
 * const { task } = await client.start({ prompt: 'Fix the failing test', workspace: '.' });
 */
export class TaskClient {
  private temporal: Promise<TemporalConnection> | undefined;

  private constructor(
    readonly journal: Journal,
    private readonly home: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  /** Connects to Temporal, and starts the local service where none is configured. */
  static async connect(options: ClientOptions = {}): Promise<TaskClient> {
    const client = await TaskClient.local(options);
    try {
      await client.connection();
      return client;
    } catch (err) {
      await client.close();
      throw err;
    }
  }

  /** Opens the journal only; Temporal is connected to by what needs it. */
  static async local(options: ClientOptions = {}): Promise<TaskClient> {
    const env = options.env ?? process.env;
    const home = options.home ?? longhaulHome(env);
    return new TaskClient(await openJournal({ home }), home, env);
  }

  async close(): Promise<void> {
    await this.temporal?.then((temporal) => temporal.close()).catch(() => undefined);
    await this.journal.close();
  }

  /**
   * Starts a task. What cannot work is refused before a workflow exists.
   * @throws LonghaulError `prompt-empty`, `prompt-too-large`, `workspace-*`, `no-api-key`, `temporal-unreachable`
   */
  async start(request: StartRequest): Promise<StartedTask> {
    checkText(request.prompt);
    const workspace = await checkWorkspace(request.workspace);
    await this.checkFree(workspace);
    const temporal = await this.connection();
    const settings: TaskSettings = {
      model: request.model ?? DEFAULT_MODEL,
      profile: await this.profile(temporal.embedded),
      policy: request.policy ?? { yolo: false, approve: [...DEFAULT_APPROVALS] },
      limits: request.limits ?? {},
      maxConsecutiveMistakes: request.maxConsecutiveMistakes ?? 3,
    };
    const task = newTaskId();
    const queue = await this.hostQueue();
    const input: TaskInput = {
      v: 1,
      task,
      journal: this.journal.id,
      workspace,
      epoch: 0,
      ...(queue === undefined ? {} : { hostQueue: queue }),
      prompt: await this.journal.putBlob(request.prompt),
      settings,
    };
    const title = oneLine(request.prompt, 200);
    const { model } = settings;
    await this.journal.createTask({ task, workspace, model, title, input: JSON.stringify(input) });
    await this.journal.append(task, [
      { key: 'task', event: { type: 'say', say: 'task', text: request.prompt, workspace, model } },
    ]);
    const run = await this.startWorkflow(input, title);
    const ui = temporal.ui && `${temporal.ui}/namespaces/${temporal.namespace}/workflows/${task}/${run}`;
    return { task, workspace, model, ...(ui ? { ui } : {}) };
  }

  /** The task whose id begins with `prefix`. @throws LonghaulError `task-not-found`, `task-ambiguous` */
  async resolve(prefix: string): Promise<string> {
    const found = await this.journal.findTasks(prefix);
    const exact = found.find((id) => id === prefix);
    const [first] = found;
    if (exact ?? (found.length === 1 && first)) return exact ?? first!;
    if (first === undefined) {
      throw new LonghaulError('task-not-found', `There is no task ${prefix}.`, {
        next: 'List them with `longhaul tasks`.',
      });
    }
    throw new LonghaulError('task-ambiguous', `${prefix} begins several ids: ${found.join(', ')}.`, {
      next: 'Give more of the id.',
    });
  }

  /** Open asks, oldest first, as the task log has them. */
  async openAsks(task: string): Promise<Ask[]> {
    const open = new Map<string, Ask>();
    for (let after = 0; ; ) {
      const events = await this.journal.readEvents(task, after, 1_000);
      for (const { event } of events) {
        if (event.type === 'ask') open.set(event.ask.id, event.ask);
        if (event.type === 'ask_closed') open.delete(event.ask);
        if (event.type === 'closed') open.clear();
      }
      const last = events.at(-1);
      if (!last) return [...open.values()];
      after = last.seq;
    }
  }

  /**
   * Answers an open ask. When no worker takes the answer in 10 s it is left as a signal, under the same client id, so
   * that it is applied once.
   * @throws LonghaulError `ask-refused` when the task does not take it, `task-closed`, `task-not-found`
   */
  async answer(task: string, answer: Answer): Promise<AnswerReceipt> {
    const { client, embedded } = await this.connection();
    const full: Answer = { clientId: randomUUID(), ...answer };
    if (full.text !== undefined && full.text.length > MAX_INLINE_ANSWER) {
      checkText(full.text);
      full.textRef = await this.journal.putBlob(full.text);
      delete full.text;
    }
    if (embedded && isUsable(profileFromEnv(this.env))) full.profile ??= await this.profile(embedded);
    const handle = client.workflow.getHandle(task);
    try {
      const reply = await this.update<AnswerReply>(client, task, 'answer', full);
      return { ask: reply.ask || full.ask, state: 'delivered' };
    } catch (err) {
      if (!isUpdateTimeout(err)) throw await this.explain(task, err);
      await handle.signal('answer', full);
      return { ask: full.ask, state: 'left' };
    }
  }

  /**
   * Leaves a message for the next request of an open task, or takes a closed task up again with it.
   * @throws LonghaulError `prompt-empty`, `prompt-too-large`, `task-busy`, `task-not-found`, `service-busy`
   */
  async send(task: string, text: string): Promise<SendReceipt> {
    checkText(text);
    const { client } = await this.connection();
    const message = { textRef: await this.journal.putBlob(text), clientId: randomUUID() };
    for (const until = Date.now() + CLOSING_MS; ; ) {
      try {
        await this.update<SendReply>(client, task, 'send', message);
        return { state: 'queued' };
      } catch (err) {
        const type = refusalOf(err)?.type;
        if (err instanceof WorkflowNotFoundError || isCompleted(err)) return this.followUp(task, text, until);
        if (type !== TASK_CLOSING || Date.now() > until) throw await this.explain(task, err);
        await new Promise((done) => setTimeout(done, 200));
      }
    }
  }

  /** Cancels the task: its processes end, then the workflow does. Returns as soon as that is asked for. */
  async abort(task: string): Promise<void> {
    const { client } = await this.connection();
    try {
      await client.workflow.getHandle(task).cancel();
    } catch (err) {
      throw await this.explain(task, err);
    }
  }

  /** `host:port` of Temporal; undefined until it has been connected to. */
  get address(): Promise<string | undefined> {
    return this.temporal?.then((temporal) => temporal.address) ?? Promise.resolve(undefined);
  }

  private connection(): Promise<TemporalConnection> {
    this.temporal ??= this.openTemporal();
    return this.temporal;
  }

  private async openTemporal(): Promise<TemporalConnection> {
    const temporal = await connectTemporal({ home: this.home, env: this.env });
    if (!temporal.embedded) await ensureSearchAttributes(temporal.connection, temporal.namespace);
    return temporal;
  }

  private async update<Reply>(client: Client, task: string, name: string, argument: object): Promise<Reply> {
    const call = () => client.workflow.getHandle(task).executeUpdate<Reply, [object]>(name, { args: [argument] });
    return client.connection.withDeadline(Date.now() + UPDATE_MS, call);
  }

  /** Where the provider's settings are: in a profile of this home, or, on a cluster, in the workers' environment. */
  private async profile(embedded: boolean): Promise<string> {
    const profile = profileFromEnv(this.env);
    if (isUsable(profile)) return saveProfile(this.home, profile);
    if (!embedded) return ENV_PROFILE;
    throw new LonghaulError('no-api-key', 'No model provider is configured: ANTHROPIC_API_KEY is not set.', {
      kept: 'No task was started.',
      next: 'Set ANTHROPIC_API_KEY (and ANTHROPIC_BASE_URL for another server), or run `npm start` for the demo without a key.',
    });
  }

  /** The queue of this machine's own host worker, when it is not the workflows' queue. */
  private async hostQueue(): Promise<string | undefined> {
    const hosts = await this.journal.liveHosts();
    const here = hosts.find(({ host }) => host === (this.env.LONGHAUL_HOST ?? hostname())) ?? hosts[0];
    return here === undefined || here.queue === TASK_QUEUE ? undefined : here.queue;
  }

  /** One task a folder. */
  private async checkFree(workspace: string): Promise<void> {
    const open = await this.journal.listTasks({ limit: 1_000 });
    const other = open.find((row) => row.workspace === workspace && isOpen(row.status));
    if (!other) return;
    throw new LonghaulError('workspace-in-use', `Task ${other.task} is open in ${workspace} (${other.status}).`, {
      kept: 'That task is untouched; no new one was started.',
      next: `Look at it with \`longhaul show ${other.task}\`, end it with \`longhaul abort ${other.task}\`, or use another folder.`,
    });
  }

  /** @returns the id of the first run */
  private async startWorkflow(input: TaskInput, title: string): Promise<string> {
    const { client } = await this.connection();
    try {
      const handle = await client.workflow.start<typeof taskWorkflow>('taskWorkflow', {
        args: [input],
        taskQueue: TASK_QUEUE,
        workflowId: input.task,
        workflowIdConflictPolicy: 'FAIL',
        staticSummary: oneLine(title, 120),
        staticDetails: `Workspace \`${input.workspace}\` · model \`${input.settings.model}\``,
      });
      return handle.firstExecutionRunId;
    } catch (err) {
      const outcome = { outcome: 'failed', class: 'internal', message: 'The workflow could not be started.' } as const;
      const totals = await this.journal.totals(input.task);
      const event = { type: 'closed', outcome, totals: { ...totals, turns: 0 } } as const;
      await this.journal.append(input.task, [{ event }]);
      throw err;
    }
  }

  private async followUp(task: string, text: string, until: number): Promise<SendReceipt> {
    const row = await this.closedTask(task, until);
    const input = JSON.parse(row.input) as TaskInput;
    const state = JSON.parse(row.carried!) as CarriedState;
    state.messages.push({ as: 'user_message', text: await this.journal.putBlob(text) });
    const { maxTimeMs } = input.settings.limits;
    const now = Date.now();
    const renewed = maxTimeMs === undefined ? {} : { deadlineAt: now + maxTimeMs };
    const next: CarriedState = { ...state, ...renewed, startedAt: now, mistakes: 0, followUp: true };
    next.notices = [...state.notices, 'follow_up'];
    await this.checkFree(row.workspace);
    await this.journal.append(task, [{ event: { type: 'status', status: 'starting' } }]);
    await this.startWorkflow({ ...input, state: next }, row.title);
    return { state: 'follow_up' };
  }

  /** The journal may hear of the end a moment after Temporal's clients do. */
  private async closedTask(task: string, until: number): Promise<TaskRow> {
    for (;;) {
      const row = await this.journal.getTask(task);
      if (!row) throw new LonghaulError('task-not-found', `There is no task ${task}.`);
      if (row.carried !== null && !isOpen(row.status)) return row;
      if (Date.now() > until) {
        throw new LonghaulError('task-closed', `Task ${task} has ended without leaving a state to go on from.`, {
          kept: 'Its log and conversation.',
          next: 'Start a new task with `longhaul run`.',
        });
      }
      await new Promise((done) => setTimeout(done, 200));
    }
  }

  private async explain(task: string, err: unknown): Promise<unknown> {
    const refusal = refusalOf(err);
    if (refusal?.type === ASK_REFUSED) {
      const open = (await this.openAsks(task)).map(({ id }) => id);
      const next =
        open.length > 0
          ? `Open asks: ${open.join(', ')} (see \`longhaul show ${task}\`).`
          : 'Nothing needs an answer now.';
      return new LonghaulError('ask-refused', refusal.message, { kept: 'The task is as it was.', next, cause: err });
    }
    if (refusal?.type === TASK_BUSY || refusal?.type === TASK_CLOSING) {
      return new LonghaulError(refusal.type === TASK_BUSY ? 'task-busy' : 'task-closing', refusal.message, {
        cause: err,
      });
    }
    if (refusal?.type === BAD_MESSAGE) return new LonghaulError('bad-answer', refusal.message, { cause: err });
    if (isUpdateTimeout(err)) {
      return new LonghaulError('service-busy', `No worker answered for task ${task} in ${UPDATE_MS / 1000} s.`, {
        kept: 'The task, and nothing was sent.',
        next: 'Start a worker (`longhaul up`), then send it again.',
        cause: err,
      });
    }
    if (err instanceof WorkflowNotFoundError || isCompleted(err)) {
      const known = await this.journal.getTask(task);
      if (!known) return new LonghaulError('task-not-found', `There is no task ${task}.`, { cause: err });
      return new LonghaulError('task-closed', `Task ${task} has ended.`, {
        next: `Take it up again with \`longhaul send ${task} "…"\`.`,
        cause: err,
      });
    }
    return err;
  }
}

/** Random, so that a few characters name a task; letters and digits that are hard to confuse. */
function newTaskId(): string {
  const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';
  return [...randomBytes(12)].map((byte) => alphabet[byte % alphabet.length]).join('');
}

function checkText(text: string): void {
  if (text.trim() === '')
    throw new LonghaulError('prompt-empty', 'The text is empty.', { next: 'Say what is to be done.' });
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_TEXT_BYTES) return;
  throw new LonghaulError('prompt-too-large', `The text has ${bytes} bytes; ${MAX_TEXT_BYTES} are the limit.`, {
    kept: 'Nothing was started or sent.',
    next: 'Put the material into a file in the workspace and name the file.',
  });
}

function refusalOf(err: unknown): { type: string; message: string } | undefined {
  if (!(err instanceof WorkflowUpdateFailedError)) return undefined;
  const { cause } = err;
  return cause instanceof ApplicationFailure ? { type: cause.type ?? '', message: cause.message } : undefined;
}

function isUpdateTimeout(err: unknown): boolean {
  if (err instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return true;
  return isGrpcDeadlineError(err);
}

/** An update that met a run which had just ended. */
function isCompleted(err: unknown): boolean {
  if (err instanceof WorkflowUpdateFailedError) {
    return err.cause instanceof ApplicationFailure && err.cause.type === 'AcceptedUpdateCompletedWorkflow';
  }
  return isGrpcServiceError(err) && /already completed|not found/i.test(err.details ?? '');
}
