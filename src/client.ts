import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { attach } from './client/attach.js';
import { pauseTask, setLimits, setMode } from './client/change.js';
import { failureOf } from './client/explain.js';
import { abortByForce } from './client/force.js';
import { Link } from './client/link.js';
import { answerProfile, newTaskProfile } from './client/provider.js';
import { checkText, newTaskId, settingsOf, userName } from './client/requests.js';
import { notFound } from './client/resolve.js';
import { resumeTask, takeUp } from './client/resume.js';
import { rewindTask } from './client/rewind.js';
import { newTaskQueue } from './client/served.js';
import { TaskReader } from './client/task-reader.js';
import type {
  AnswerReceipt,
  AttachRequest,
  ClientOptions,
  ForcedAbort,
  LimitsChange,
  LimitsReceipt,
  ResumedTask,
  SendReceipt,
  StartedTask,
  StartRequest,
} from './client/types.js';
import { type Answer, type AnswerSource, MAX_INLINE_ANSWER } from './domain/asks.js';
import type { Mode } from './domain/modes.js';
import type { AnswerReply, ModeReply, RewindReply, SendReply } from './domain/replies.js';
import type { TaskSettings } from './domain/settings.js';
import type { TaskInput } from './domain/task.js';
import { oneLine } from './domain/text.js';
import type { Said } from './domain/turn.js';
import { openJournal } from './journal/open.js';
import { longhaulHome } from './settings/paths.js';
import { checkWorkspace } from './workspace/check.js';

export type * from './client/types.js';

/** How long a message waits for a task that is just ending, ms. */
const CLOSING_MS = 30_000;
const POLL_MS = 200;

/**
 * Starts tasks and talks to them.
 *
 * @example
 * const client = await TaskClient.connect();
 * const { task } = await client.start({ prompt: 'Fix the failing test', workspace: '.' });
 */
export class TaskClient extends TaskReader {
  private constructor(
    private readonly link: Link,
    private readonly person: { who?: string; from: AnswerSource },
  ) {
    super(link.journal);
  }

  /** Connects to Temporal, and starts the local service where none is configured. */
  static async connect(options: ClientOptions = {}): Promise<TaskClient> {
    const client = await TaskClient.local(options);
    try {
      await client.link.tasks();
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
    return new TaskClient(new Link(await openJournal({ home }), home, env, slow), person);
  }

  /** Ends this client; tasks go on. */
  async close(): Promise<void> {
    await this.link.disconnect();
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
    const resolved = await resolveSettings(
      { home: this.link.home, workspace, files },
      settingsOf(request),
      this.link.env,
    );
    const { tightened } = resolved;
    const { namesServer } = await import('./service/connect.js');
    const isNamed = namesServer(this.link.env);
    const profile = await newTaskProfile(this.link.place, !isNamed, request.profile, resolved.profile);
    const settings: TaskSettings = { ...resolved.settings, profile };
    const attached = await attach(this.journal, request, request.prompt, workspace);
    const temporal = await this.link.tasks();
    const task = newTaskId();
    const queue = newTaskQueue(temporal.server, await this.journal.liveHosts(), this.link.env);
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
    await this.link.taking(() => this.journal.createTask(row));
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
    const ui = temporal.page(task, await this.link.startRun(input, title));
    return { task, workspace, model, ...(ui && { ui }), ...(tightened.length > 0 && { tightened }) };
  }

  /**
   * Answers an open ask. When no worker takes the answer in 10 s it is left as a signal, under the same client id, so
   * that it is applied once.
   * @throws LonghaulError `ask-refused` when the task does not take it, `bad-attachment`, `task-closed`, `task-not-found`
   */
  async answer(task: string, answer: Answer, attachments: AttachRequest = {}): Promise<AnswerReceipt> {
    const attached = await attach(this.journal, attachments, answer.text ?? '', await this.workspaceOf(task));
    const temporal = await this.link.tasks();
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
    const profile = full.profile ?? (await answerProfile(this.link.place, this.journal, task, temporal.embedded));
    if (profile !== undefined) full.profile = profile;
    try {
      const reply = await temporal.update<AnswerReply>(task, 'answer', full);
      return { ask: reply.ask || full.ask, state: 'delivered' };
    } catch (err) {
      const { kind } = await failureOf(err);
      if (kind === 'ended') await this.link.settle(task);
      if (kind !== 'timeout') throw await this.link.meaning(task, err);
      await temporal.signal(task, 'answer', full).catch(async (cause) => {
        throw await this.link.meaning(task, cause);
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
    const { link } = this;
    const said = { text: await this.journal.putBlob(text), ...(attached && { attachments: attached.ref }) };
    const { text: textRef, ...more } = said;
    const message = { textRef, clientId: randomUUID(), ...more };
    for (const until = Date.now() + CLOSING_MS; ; await sleep(POLL_MS)) {
      try {
        await link.update<SendReply>(task, 'send', message);
        return { state: 'queued' };
      } catch (err) {
        const failure = await failureOf(err);
        if (failure.kind === 'ended' && (await this.followUp(task, said))) return { state: 'follow_up' };
        const closing = failure.kind === 'refused' && failure.type === 'TaskClosing';
        if (!(closing || failure.kind === 'ended') || Date.now() > until) throw await link.meaning(task, err);
      }
    }
  }

  /** @returns whether a run was started; false while the journal has the task open, as when another has just done it */
  private async followUp(task: string, said: Said): Promise<boolean> {
    await this.link.settle(task);
    const row = await this.journal.getTask(task);
    if (!row) throw notFound(task);
    return (await takeUp(this.link, row, said)) !== undefined;
  }

  /** Real path; undefined for a task that there is not, which the call to it will find. */
  private async workspaceOf(task: string): Promise<string | undefined> {
    return (await this.journal.getTask(task))?.workspace;
  }

  /**
   * Takes a closed task up again, as a new run under the same id: one that has completed, was aborted, has failed, was
   * ended by its budget, or whose workflow was terminated or is gone from the server. The model is told of the
   * interruption, and of what you say.
   * @throws LonghaulError `task-state` for an open task, `task-not-found`, `workspace-in-use`, `prompt-empty`, `no-api-key`
   */
  async resume(task: string, text?: string, attachments: AttachRequest = {}): Promise<ResumedTask> {
    const attached = await attach(this.journal, attachments, text ?? '', await this.workspaceOf(task));
    return resumeTask(this.link, task, text, attached?.ref);
  }

  /**
   * Keeps the task from making a request or beginning a call until {@link unpause}; what is running ends as it would.
   * @throws LonghaulError `task-state` when it is paused already, `task-closed`, `task-not-found`, `service-busy`
   */
  pause(task: string): Promise<void> {
    return pauseTask(this.link, task, true);
  }

  /** @throws LonghaulError `task-state` when it is not paused, `task-closed`, `task-not-found`, `service-busy` */
  unpause(task: string): Promise<void> {
    return pauseTask(this.link, task, false);
  }

  /**
   * Sets the mode from the next turn on; `act` also answers a plan that waits for an answer.
   * @throws LonghaulError `task-closed`, `task-not-found`, `service-busy`
   */
  setMode(task: string, mode: Mode): Promise<ModeReply> {
    return setMode(this.link, task, mode);
  }

  /**
   * Changes limits of the task: sums since its start, the time since its run began. Those of a closed task are kept for
   * its next run.
   * @throws LonghaulError `bad-answer`, `task-not-found`, `service-busy`
   */
  setLimits(task: string, change: LimitsChange): Promise<LimitsReceipt> {
    return setLimits(this.link, task, change);
  }

  /**
   * Takes the conversation back to a message, which becomes its last one; files and finished commands stay as they are.
   * An open task goes on from there at once, a closed one when it is taken up again.
   * @param message its number, from 1, or its id; `messages` lists them
   * @throws LonghaulError `message-not-found`, `task-state`, `task-busy`, `task-not-found`, `service-busy`
   */
  rewind(task: string, message: number | string, text?: string): Promise<RewindReply> {
    return rewindTask(this.link, task, String(message), text);
  }

  /**
   * Cancels the task: its processes end, then the workflow does. Returns as soon as that is asked for. A task whose
   * workflow is gone ends in the journal.
   * @throws LonghaulError `task-closed`, `task-not-found`, `task-busy` while it is being started
   */
  async abort(task: string): Promise<void> {
    const temporal = await this.link.tasks();
    if (await this.link.settle(task)) return;
    try {
      await temporal.cancel(task);
    } catch (err) {
      throw await this.link.meaning(task, err);
    }
  }

  /**
   * Ends the task without a worker: its workflow is terminated, its commands on this machine are ended, its log is
   * closed. May be repeated.
   * @throws LonghaulError `task-not-found`, `task-busy` while it is being started, `temporal-unreachable`
   */
  forceAbort(task: string): Promise<ForcedAbort> {
    return abortByForce({ journal: this.journal, home: this.link.home, task, connect: () => this.link.tasks() });
  }

  /** `host:port` of Temporal; undefined until it has been connected to. */
  get address(): Promise<string | undefined> {
    return this.link.address;
  }
}
