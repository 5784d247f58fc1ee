import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { inUse, unsure } from './client/errors.js';
import { explain, failureOf } from './client/explain.js';
import { followUpInput } from './client/follow-up.js';
import { openAsks } from './client/open-asks.js';
import { checkText, newTaskId } from './client/requests.js';
import type { TemporalTasks } from './client/temporal-tasks.js';
import { type Answer, type Ask, MAX_INLINE_ANSWER } from './domain/asks.js';
import { LonghaulError } from './domain/errors.js';
import { isOpen } from './domain/outcomes.js';
import { type ApprovalPolicy, DEFAULT_APPROVALS } from './domain/policy.js';
import { TASK_QUEUE } from './domain/queues.js';
import type { AnswerReply, SendReply } from './domain/replies.js';
import type { TaskInput, TaskLimits, TaskSettings } from './domain/task.js';
import { oneLine } from './domain/text.js';
import { type Journal, type TaskRow, WorkspaceInUse } from './journal/journal.js';
import { openJournal } from './journal/open.js';
import { DEFAULT_MODEL } from './model/prices.js';
import { checkProfile, ENV_PROFILE, isUsable, profileFromEnv, saveProfile } from './model/profiles.js';
import { readService } from './service/up.js';
import { longhaulHome } from './settings/paths.js';
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
  /** Gets a line for people before something slow, such as the start of the service. */
  log?: (line: string) => void;
  /** Gets what has been fetched of the Temporal server, in bytes; `total` where it is known. */
  progress?: (bytes: number, total: number | undefined) => void;
}

/** How long a message waits for a task that is just ending, ms. */
const CLOSING_MS = 30_000;
const POLL_MS = 200;
/**
 * A message that was not taken so soon is refused: the server keeps an update that found no worker, and it must not
 * arrive after its sender was told that it was not sent. Below the limit of the call itself (`UPDATE_MS`), ms.
 */
const SEND_MS = 9_000;

/**
 * Starts tasks and talks to them.
 *
 * @example
 * const client = await TaskClient.connect();
 * const { task } = await client.start({ prompt: 'Fix the failing test', workspace: '.' });
 */
export class TaskClient {
  private temporal: Promise<TemporalTasks> | undefined;

  private constructor(
    readonly journal: Journal,
    private readonly home: string,
    private readonly env: NodeJS.ProcessEnv,
    private readonly slow: Pick<ClientOptions, 'log' | 'progress'>,
  ) {}

  /** Connects to Temporal, and starts the local service where none is configured. */
  static async connect(options: ClientOptions = {}): Promise<TaskClient> {
    const client = await TaskClient.local(options);
    try {
      await client.tasks();
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
    const { log, progress } = options;
    return new TaskClient(await openJournal({ home }), home, env, {
      ...(log && { log }),
      ...(progress && { progress }),
    });
  }

  async close(): Promise<void> {
    await this.temporal?.then((temporal) => temporal.close()).catch(() => undefined);
    await this.journal.close();
  }

  /**
   * Starts a task. What cannot work is refused before a workflow exists.
   * @throws LonghaulError `prompt-empty`, `prompt-too-large`, `workspace-*`, `no-api-key`, `bad-settings`, `temporal-unreachable`
   */
  async start(request: StartRequest): Promise<StartedTask> {
    checkText(request.prompt);
    const workspace = await checkWorkspace(request.workspace);
    const temporal = await this.tasks();
    const settings: TaskSettings = {
      model: request.model ?? DEFAULT_MODEL,
      profile: await this.profile(temporal.embedded),
      policy: request.policy ?? { yolo: false, approve: [...DEFAULT_APPROVALS] },
      limits: request.limits ?? {},
      maxConsecutiveMistakes: request.maxConsecutiveMistakes ?? 3,
    };
    const task = newTaskId();
    const queue = await this.hostQueue(temporal.server);
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
    const { server } = temporal;
    const row = { task, workspace, model, title, server, input: JSON.stringify(input) };
    await this.taking(() => this.journal.createTask(row));
    await this.journal.append(task, [
      { key: 'task', event: { type: 'say', say: 'task', text: request.prompt, workspace, model } },
    ]);
    const ui = temporal.page(task, await this.startRun(input, title));
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
  openAsks(task: string): Promise<Ask[]> {
    return openAsks(this.journal, task);
  }

  /**
   * Answers an open ask. When no worker takes the answer in 10 s it is left as a signal, under the same client id, so
   * that it is applied once.
   * @throws LonghaulError `ask-refused` when the task does not take it, `task-closed`, `task-not-found`
   */
  async answer(task: string, answer: Answer): Promise<AnswerReceipt> {
    const temporal = await this.tasks();
    const full: Answer = { clientId: randomUUID(), ...answer };
    if (full.text !== undefined && Buffer.byteLength(full.text) > MAX_INLINE_ANSWER) {
      checkText(full.text);
      full.textRef = await this.journal.putBlob(full.text);
      delete full.text;
    }
    if (temporal.embedded && isUsable(profileFromEnv(this.env))) full.profile ??= await this.profile(true);
    try {
      const reply = await temporal.update<AnswerReply>(task, 'answer', full);
      return { ask: reply.ask || full.ask, state: 'delivered' };
    } catch (err) {
      const { kind } = await failureOf(err);
      if (kind === 'ended') await this.settle(task);
      if (kind !== 'timeout') throw await this.meaning(task, err);
      await temporal.signal(task, 'answer', full).catch(async (cause) => {
        throw await this.meaning(task, cause);
      });
      return { ask: full.ask, state: 'left' };
    }
  }

  /**
   * Leaves a message for the next request of an open task, or takes a closed task up again with it.
   * @throws LonghaulError `prompt-empty`, `prompt-too-large`, `task-busy`, `task-not-found`, `service-busy`
   */
  async send(task: string, text: string): Promise<SendReceipt> {
    checkText(text);
    const temporal = await this.tasks();
    const message = { textRef: await this.journal.putBlob(text), clientId: randomUUID() };
    for (const until = Date.now() + CLOSING_MS; ; await pause(POLL_MS)) {
      try {
        await temporal.update<SendReply>(task, 'send', { ...message, notAfter: Date.now() + SEND_MS });
        return { state: 'queued' };
      } catch (err) {
        const failure = await failureOf(err);
        if (failure.kind === 'ended' && (await this.followUp(task, text))) return { state: 'follow_up' };
        const closing = failure.kind === 'refused' && failure.type === 'TaskClosing';
        if (!(closing || failure.kind === 'ended') || Date.now() > until) throw await this.meaning(task, err);
      }
    }
  }

  /**
   * Cancels the task: its processes end, then the workflow does. Returns as soon as that is asked for. A task whose
   * workflow is gone ends in the journal.
   * @throws LonghaulError `task-closed`, `task-not-found`, `task-busy` while it is being started
   */
  async abort(task: string): Promise<void> {
    const temporal = await this.tasks();
    if (await this.settle(task)) return;
    try {
      await temporal.cancel(task);
    } catch (err) {
      throw await this.meaning(task, err);
    }
  }

  /** `host:port` of Temporal; undefined until it has been connected to. */
  get address(): Promise<string | undefined> {
    return this.temporal?.then((temporal) => temporal.address) ?? Promise.resolve(undefined);
  }

  private async tasks(): Promise<TemporalTasks> {
    const known = this.temporal;
    const open = await known?.catch(() => undefined);
    // the local service may have been stopped, or started again at another address
    const gone = open?.embedded && (await readService(this.home))?.address !== open.address;
    if (gone && this.temporal === known) await this.disconnect();
    if (this.temporal) return this.temporal;
    const opening = import('./client/temporal-tasks.js').then(({ TemporalTasks }) =>
      TemporalTasks.open({ home: this.home, env: this.env, ...this.slow }),
    );
    this.temporal = opening;
    // a later call tries again
    opening.catch(() => {
      if (this.temporal === opening) this.temporal = undefined;
    });
    return opening;
  }

  /** What a failed call means for people. The server may come back elsewhere, so the connection to one that is gone is given up. */
  private async meaning(task: string, err: unknown): Promise<unknown> {
    const meant = await explain(this.journal, task, err);
    if (LonghaulError.is(meant) && meant.slug === 'temporal-unreachable') {
      await this.disconnect();
    }
    return meant;
  }

  private async disconnect(): Promise<void> {
    const old = this.temporal;
    this.temporal = undefined;
    await old?.then((temporal) => temporal.close()).catch(() => undefined);
  }

  /** Where the provider's settings are: in a profile of this home, or, on a cluster, in the workers' environment. */
  private async profile(embedded: boolean): Promise<string> {
    const profile = profileFromEnv(this.env);
    checkProfile(profile);
    if (isUsable(profile)) return saveProfile(this.home, profile);
    if (!embedded) return ENV_PROFILE;
    throw new LonghaulError('no-api-key', 'No model provider is configured: ANTHROPIC_API_KEY is not set.', {
      kept: 'No task was started.',
      next: 'Set ANTHROPIC_API_KEY (and ANTHROPIC_BASE_URL for another server), or run `npm start` for the demo without a key.',
    });
  }

  /** The queue of this machine's own host worker, when it is not the workflows' queue. */
  private async hostQueue(server: string): Promise<string | undefined> {
    const hosts = (await this.journal.liveHosts()).filter((host) => host.server === server);
    const here = hosts.find(({ host }) => host === (this.env.LONGHAUL_HOST ?? hostname())) ?? hosts[0];
    return here === undefined || here.queue === TASK_QUEUE ? undefined : here.queue;
  }

  /** Ends the task in the journal when its workflow has ended without its doing. @returns whether it did */
  private async settle(task: string): Promise<boolean> {
    const row = await this.journal.getTask(task);
    if (row === undefined) return false;
    try {
      return await (await this.tasks()).reconcile(this.journal, row);
    } catch (err) {
      throw await this.meaning(task, err);
    }
  }

  /** Stores what takes a folder. One task a folder; one whose workflow is gone is in nobody's way. */
  private async taking<T>(store: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await store();
      } catch (err) {
        if (!(err instanceof WorkspaceInUse)) throw err;
        if (!(await this.settle(err.task))) throw inUse(err, await this.journal.getTask(err.task));
      }
    }
  }

  /** @returns the id of the run */
  private async startRun(input: TaskInput, title: string): Promise<string> {
    try {
      return await (await this.tasks()).start(input, title);
    } catch (err) {
      // it may have been started all the same: reconciling finds out
      if ((await failureOf(err)).kind === 'timeout') throw unsure(input.task, err);
      const outcome = { outcome: 'failed', class: 'internal', message: 'The workflow could not be started.' } as const;
      const totals = await this.journal.totals(input.task);
      const turns = input.state?.turns ?? 0;
      await this.journal.append(input.task, [{ event: { type: 'closed', outcome, totals: { ...totals, turns } } }]);
      throw err;
    }
  }

  /** @returns whether a run was started; false while the journal has the task open, as when another has just done it */
  private async followUp(task: string, text: string): Promise<boolean> {
    const row = await this.closedTask(task);
    if (!row) return false;
    const input = followUpInput(row, await this.journal.putBlob(text), Date.now());
    if (!(await this.taking(() => this.journal.reopenTask(task)))) return false;
    await this.startRun(input, row.title);
    return true;
  }

  /** @returns undefined while the journal has it open. @throws LonghaulError `task-not-found`, `task-closed` */
  private async closedTask(task: string): Promise<(TaskRow & { carried: string }) | undefined> {
    await this.settle(task);
    const row = await this.journal.getTask(task);
    if (!row) throw new LonghaulError('task-not-found', `There is no task ${task}.`);
    if (isOpen(row.status)) return undefined;
    const { carried } = row;
    if (carried !== null) return { ...row, carried };
    throw new LonghaulError('task-closed', `Task ${task} has ended without leaving a state to go on from.`, {
      kept: 'Its log and conversation.',
      next: 'Start a new task with `longhaul run`.',
    });
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
