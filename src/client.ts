import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { attach } from './client/attach.js';
import { inUse, unsure } from './client/errors.js';
import { explain, failureOf } from './client/explain.js';
import { closedTask, followUpInput } from './client/follow-up.js';
import { abortByForce } from './client/force.js';
import { answerProfile, followUpProfile, newTaskProfile, type Place } from './client/provider.js';
import { checkText, newTaskId, settingsOf, userName } from './client/requests.js';
import { newTaskQueue, shownStatus } from './client/served.js';
import { TaskReader } from './client/task-reader.js';
import type { TemporalTasks } from './client/temporal-tasks.js';
import type {
  AnswerReceipt,
  AttachRequest,
  ClientOptions,
  ForcedAbort,
  SendReceipt,
  StartedTask,
  StartRequest,
} from './client/types.js';
import { type Answer, type AnswerSource, MAX_INLINE_ANSWER } from './domain/asks.js';
import type { AttachmentsRef } from './domain/attachments.js';
import { LonghaulError } from './domain/errors.js';
import type { AnswerReply, SendReply } from './domain/replies.js';
import type { TaskInput, TaskSettings } from './domain/task.js';
import { oneLine } from './domain/text.js';
import { type Journal, WorkspaceInUse } from './journal/journal.js';
import { openJournal } from './journal/open.js';
import { readService } from './service/up.js';
import { longhaulHome } from './settings/paths.js';
import { checkWorkspace } from './workspace/check.js';

export type * from './client/types.js';

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
export class TaskClient extends TaskReader {
  private temporal: Promise<TemporalTasks> | undefined;

  private constructor(
    journal: Journal,
    private readonly home: string,
    private readonly env: NodeJS.ProcessEnv,
    private readonly slow: Pick<ClientOptions, 'log' | 'progress'>,
    private readonly person: { who?: string; from: AnswerSource },
  ) {
    super(journal);
  }

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
    const { log, progress, who = userName(), from = 'library' } = options;
    const slow = { ...(log && { log }), ...(progress && { progress }) };
    const person = { ...(who !== undefined && { who }), from };
    return new TaskClient(await openJournal({ home }), home, env, slow, person);
  }

  /** Ends this client; tasks go on. */
  async close(): Promise<void> {
    await this.temporal?.then((temporal) => temporal.close()).catch(() => undefined);
    await this.journal.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * Starts a task. What cannot work is refused before a workflow exists.
   * @throws LonghaulError `prompt-empty`, `prompt-too-large`, `workspace-*`, `no-api-key`, `profile-unknown`, `bad-settings`, `bad-attachment`,
   * `temporal-unreachable`
   */
  async start(request: StartRequest): Promise<StartedTask> {
    checkText(request.prompt);
    const workspace = await checkWorkspace(request.workspace);
    const { resolveSettings } = await import('./settings/resolve.js');
    const files = request.settingsFiles ?? true;
    const resolved = await resolveSettings({ home: this.home, workspace, files }, settingsOf(request));
    const { tightened } = resolved;
    const { namesServer } = await import('./service/connect.js');
    const profile = await newTaskProfile(this.place, !namesServer(this.env), request.profile, resolved.profile);
    const settings: TaskSettings = { ...resolved.settings, profile };
    const attached = await attach(this.journal, request, request.prompt, workspace);
    const temporal = await this.tasks();
    const task = newTaskId();
    const queue = newTaskQueue(temporal.server, await this.journal.liveHosts(), this.env);
    const input: TaskInput = {
      v: 1,
      task,
      journal: this.journal.id,
      workspace,
      epoch: 0,
      ...(queue === undefined ? {} : { hostQueue: queue }),
      prompt: await this.journal.putBlob(request.prompt),
      ...(attached && { attachments: attached.ref }),
      settings,
    };
    const title = oneLine(request.prompt, 200);
    const { model } = settings;
    const { server } = temporal;
    const row = { task, workspace, model, title, server, profile, input: JSON.stringify(input) };
    await this.taking(() => this.journal.createTask(row));
    await this.journal.append(task, [
      {
        key: 'task',
        event: {
          type: 'say',
          say: 'task',
          text: request.prompt,
          workspace,
          model,
          ...(attached && { attachments: attached.list }),
        },
      },
    ]);
    const ui = temporal.page(task, await this.startRun(input, title));
    return { task, workspace, model, ...(ui && { ui }), ...(tightened.length > 0 && { tightened }) };
  }

  /**
   * Answers an open ask. When no worker takes the answer in 10 s it is left as a signal, under the same client id, so
   * that it is applied once.
   * @throws LonghaulError `ask-refused` when the task does not take it, `bad-attachment`, `task-closed`, `task-not-found`
   */
  async answer(task: string, answer: Answer, attachments: AttachRequest = {}): Promise<AnswerReceipt> {
    const attached = await attach(this.journal, attachments, answer.text ?? '', await this.workspaceOf(task));
    const temporal = await this.tasks();
    const person = answer.by === 'default' ? { from: this.person.from } : this.person;
    const full: Answer = {
      clientId: randomUUID(),
      ...person,
      ...answer,
      ...(attached && { attachments: attached.ref }),
    };
    if (full.text !== undefined && Buffer.byteLength(full.text) > MAX_INLINE_ANSWER) {
      checkText(full.text);
      full.textRef = await this.journal.putBlob(full.text);
      delete full.text;
    }
    const profile = full.profile ?? (await answerProfile(this.place, this.journal, task, temporal.embedded));
    if (profile !== undefined) full.profile = profile;
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
   * @throws LonghaulError `prompt-empty`, `prompt-too-large`, `bad-attachment`, `task-busy`, `task-not-found`, `service-busy`
   */
  async send(task: string, text: string, attachments: AttachRequest = {}): Promise<SendReceipt> {
    checkText(text);
    const attached = await attach(this.journal, attachments, text, await this.workspaceOf(task));
    const temporal = await this.tasks();
    const refs = attached && { attachments: attached.ref };
    const message = { textRef: await this.journal.putBlob(text), clientId: randomUUID(), ...refs };
    for (const until = Date.now() + CLOSING_MS; ; await sleep(POLL_MS)) {
      try {
        await temporal.update<SendReply>(task, 'send', { ...message, notAfter: Date.now() + SEND_MS });
        return { state: 'queued' };
      } catch (err) {
        const failure = await failureOf(err);
        if (failure.kind === 'ended' && (await this.followUp(task, text, attached?.ref))) return { state: 'follow_up' };
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

  /**
   * Ends the task without a worker: its workflow is terminated, its commands on this machine are ended, its log is
   * closed. May be repeated.
   * @throws LonghaulError `task-not-found`, `task-busy` while it is being started, `temporal-unreachable`
   */
  forceAbort(task: string): Promise<ForcedAbort> {
    return abortByForce({ journal: this.journal, home: this.home, task, connect: () => this.tasks() });
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

  /** Real path; undefined for a task that there is not, which the call to it will find. */
  private async workspaceOf(task: string): Promise<string | undefined> {
    return (await this.journal.getTask(task))?.workspace;
  }

  private get place(): Place {
    return { home: this.home, env: this.env };
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
        if (await this.settle(err.task)) continue;
        const other = await this.journal.getTask(err.task);
        if (other) throw inUse(err, shownStatus(other, await this.journal.liveWorkers()));
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

  /**
   * @returns whether a run was started; false while the journal has the task open, as when another has just done it
   * @throws LonghaulError `task-not-found`, `task-closed`
   */
  private async followUp(task: string, text: string, attachments?: AttachmentsRef): Promise<boolean> {
    await this.settle(task);
    const row = await closedTask(this.journal, task);
    if (!row) return false;
    const input = followUpInput(
      row,
      { text: await this.journal.putBlob(text), ...(attachments && { attachments }) },
      Date.now(),
    );
    if (input.state) input.state.profile = await followUpProfile(this.place, task, input.state.profile);
    if (!(await this.taking(() => this.journal.reopenTask(task)))) return false;
    await this.startRun(input, row.title);
    return true;
  }
}
