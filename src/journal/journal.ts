import type { AnswerBlock, BlobRef, Conversation, Message, TextRef } from '../domain/blocks.js';
import type { BudgetCaps, BudgetUse } from '../domain/budget.js';
import type { Partial, StoredEvent, TaskEvent } from '../domain/events.js';
import type { CallKey, Head, TaskId, TurnKey } from '../domain/ids.js';
import type { Outcome, TaskStatus } from '../domain/outcomes.js';
import type { WorkerRole } from '../domain/queues.js';
import type { ListedMessage } from '../domain/rewind.js';
import type { JournalId, StopReason } from '../domain/turn.js';
import type { Usage } from '../domain/usage.js';
import type {
  HostLease,
  NewBlock,
  NewEvent,
  NewResult,
  Reopening,
  Reservation,
  Restart,
  TaskRow,
  ToolResultRow,
  TurnClaim,
  TurnOpening,
  TurnRow,
  UsageRow,
} from './rows.js';

/** Thrown when a newer claim exists: the caller must stop at once and change nothing more. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

/** Thrown when another open task works in the folder. */
export class WorkspaceInUse extends Error {
  override readonly name = 'WorkspaceInUse';

  /** @param task the other one */
  constructor(
    readonly task: TaskId,
    readonly workspace: string,
  ) {
    super(`task ${task} is open in ${workspace}`);
  }
}

/**
 * The store behind conversations, turns, task log, usage, ledger and blobs. All methods may be called by many processes
 * at once. Where a key is written again with the same bytes nothing happens; with other bytes it is an error
 * (`journal-conflict`). Errors that people meet are `LonghaulError`s: `journal-locked`, `journal-corrupt`,
 * `journal-newer`, `journal-lost`, `journal-unwritable`.
 */
export interface Journal {
  /** Identity of this store. `generation` grows when it is restored from a backup. */
  readonly id: JournalId;
  close(): Promise<void>;
  /**
   * Checks that the file which was opened is still the journal of its home: a removed or replaced one can be written
   * for long without anybody else seeing it.
   * @throws LonghaulError `journal-lost`
   */
  check(): Promise<void>;

  /** One open task tree a folder, checked in the same transaction. `root`: default itself. @throws WorkspaceInUse */
  createTask(
    row: Pick<TaskRow, 'task' | 'workspace' | 'model' | 'title' | 'input'> & {
      server?: string;
      profile?: string;
      root?: TaskId;
    },
  ): Promise<void>;
  /**
   * Makes a closed task `starting` again, with what its next run begins from; false when it is open already, or has been
   * changed since it was read. @throws WorkspaceInUse
   */
  reopenTask(task: TaskId, how?: Reopening): Promise<boolean>;
  /**
   * Changes what the next run of a closed task begins from, and says so in its log; false when it is open, or has been
   * changed since it was read.
   */
  changeClosed(task: TaskId, seq: number, change: { carried: string; events: TaskEvent[] }): Promise<boolean>;
  /**
   * Ends a task from outside, but only while it is open and its status is the one it had at `since`; false when it is
   * not. Answers that are still arriving are closed with what they have; whoever still streams one gets `Superseded`.
   */
  closeIfOpen(task: TaskId, since: number, end: { say: string; outcome: Outcome }): Promise<boolean>;
  getTask(task: TaskId): Promise<TaskRow | undefined>;
  /** Newest first. */
  listTasks(filter?: { statuses?: TaskStatus[]; limit?: number }): Promise<TaskRow[]>;
  /** Ids that begin with the prefix, at most 10. */
  findTasks(prefix: string): Promise<TaskId[]>;
  saveCarried(task: TaskId, carried: string): Promise<void>;
  /** Notes which profile the task's requests are made with. */
  setProfile(task: TaskId, profile: string): Promise<void>;
  /** Profiles of tasks that are open, or were so after `since` (ms since the epoch). */
  usedProfiles(since: number): Promise<Set<string>>;

  /** The task's newest run, see `TaskRow.run`. @throws LonghaulError `journal-lost` for an unknown task */
  runOf(task: TaskId): Promise<string | null>;
  /**
   * Makes `run` the task's newest run, if that still is `from`; false when it is another. From then on no execution of
   * an older run can claim a turn or a call. With `restart` the run is one that a reset has made: answers that are
   * still arriving are void, a closed task is open again, and events and turns are put right.
   * @throws WorkspaceInUse when the task was closed, and another one works in its folder
   */
  enterRun(task: TaskId, run: string, from: string | null, restart?: Restart): Promise<boolean>;

  /**
   * Appends to the task log in one transaction and returns the last `seq`. An event with a `key` that the task's log
   * already holds is skipped, and so is everything after the `closed` event of a task that is closed. `status` events also set the task row's status, `closed` events status and totals,
   * `api_req_finished` events nothing (usage rows are their own).
   */
  append(task: TaskId, events: NewEvent[]): Promise<number>;
  /** Events with `seq` > `after`, oldest first. */
  readEvents(task: TaskId, after: number, limit?: number): Promise<StoredEvent[]>;
  /** Partials of everything of the task that is still arriving, in order of arrival, with a row id > `after`. */
  readPartials(task: TaskId, after: number): Promise<{ id: number; partial: Partial }[]>;
  /** Ephemeral; losing it in a power cut is fine. Kept until `dropPartials`. */
  addPartial(partial: Partial): Promise<void>;
  dropPartials(task: TaskId, stream: string): Promise<void>;
  /**
   * Follows the log: stored events with `seq` > `after` in order, each once, and in between partials of what is still
   * arriving. A partial comes after all events that were stored before it was written, in particular after the
   * `retract` of an older attempt. None comes of an attempt that was retracted, or of a stream that has its final
   * event, block or result, whoever wrote it and when. A viewer that joins late gets the partials of a stream from its
   * start. `Transcript` (rebuild.ts) makes one copy of the text of both. Ends when `signal` aborts or the journal is
   * closed. Writes of this process arrive at once, those of others within 50 ms.
   */
  tail(task: TaskId, after: number, signal: AbortSignal): AsyncIterable<{ event: StoredEvent } | { partial: Partial }>;

  putBlob(content: string | Uint8Array): Promise<BlobRef>;
  /** @throws LonghaulError `journal-lost` when the journal does not hold it */
  getBlob(ref: Pick<BlobRef, 'blob'>): Promise<Uint8Array>;
  getText(ref: TextRef): Promise<string>;
  /** By value up to `INLINE_TEXT_BYTES`, else as a blob. */
  putText(text: string): Promise<TextRef>;

  /** Adds messages after `parent`, all or none; the same ones after the same parent are the same head. */
  appendMessages(task: TaskId, parent: Head, messages: readonly Message[]): Promise<Head>;
  /**
   * The conversation; of one that is longer than `limit` characters of JSON the first message and the newest ones, at
   * least so many characters of them and two. @throws LonghaulError `journal-lost` for an unknown head
   */
  readConversation(head: Head, limit?: number): Promise<Conversation>;

  /** All messages of a conversation, oldest first. @throws LonghaulError `journal-lost` for an unknown head */
  listMessages(head: Head): Promise<ListedMessage[]>;
  /** One message. @throws LonghaulError `journal-lost` */
  getMessage(id: string): Promise<Message>;

  /**
   * Claims the next attempt of a turn, in one transaction: an older attempt that is still open is retracted (its final
   * `say` events and partials by a `retract` event, its reservation settled as `estimated` usage); a committed row is
   * closed with the blocks it has, stop `interrupted`; a closed one is returned. `head` is kept from the first claim.
   * What `request` can use is set aside in the ledger of the task tree. With `caps` it is granted only as far as these
   * pay for it beside all that was used and is set aside; no two claims can get the same rest. `dispatch` orders the
   * executions that may claim: a worker that was stopped can begin with one that has long been replaced. `opening` is
   * stored with the first claim, `events` are said with a granted one. Earlier turns of the task that nobody has ended
   * are settled too.
   * @throws Superseded when an execution with a greater `dispatch` has claimed the turn, or the task has a newer `run` or has ended
   */
  claimTurn(
    key: { task: TaskId; turn: TurnKey; run?: string; root?: TaskId },
    head: Head,
    request: Reservation,
    more?: { dispatch?: number; opening?: TurnOpening; events?: (attempt: number) => NewEvent[]; caps?: BudgetCaps },
  ): Promise<TurnClaim>;
  getTurn(turn: TurnKey): Promise<TurnRow | undefined>;
  /** Stores a finished block of an attempt with what people see of it. @throws Superseded */
  putBlock(turn: TurnKey, attempt: number, block: NewBlock): Promise<void>;
  /** open → committed; stays committed when it is. `events` are what can be said only now. @throws Superseded */
  commitTurn(turn: TurnKey, attempt: number, events?: NewEvent[]): Promise<void>;
  /**
   * Any state of this attempt → closed, usage row and ledger settled, `api_req_finished` said; the answer's last
   * `blocks`, and `results` of calls that have run already, are stored with it. @throws Superseded
   */
  closeTurn(
    turn: TurnKey,
    attempt: number,
    end: { stop: StopReason; usage: UsageRow; blocks?: NewBlock[]; extra?: AnswerBlock[]; results?: NewResult[] },
  ): Promise<TurnRow>;
  /** Gives an open attempt up: retracts what it showed, settles its usage; the row stays open for the next claim. @throws Superseded */
  retractTurn(turn: TurnKey, attempt: number, reason: string, usage: UsageRow): Promise<void>;
  /** Sum of all usage rows of the task. */
  totals(task: TaskId): Promise<{ usage: Usage; cost: number; requests: number }>;
  /** What the task tree that the task belongs to has used. @throws LonghaulError `journal-lost` for an unknown task */
  treeUse(task: TaskId): Promise<BudgetUse>;
  /** Settles the task's requests that nobody has ended, at its end: what they have stored is their answer. */
  settleLeft(task: TaskId): Promise<void>;

  /** Claims an execution of a call: 1 for the first, one more for each later one. @throws Superseded as `claimTurn` does */
  claimCall(task: TaskId, call: CallKey, dispatch?: number, run?: string): Promise<number>;
  /**
   * Runs `act` inside an immediate transaction after checking that `execution` is still the newest claim of the call:
   * two executions can never both be inside. `act` must be quick. @throws Superseded
   */
  whileClaimed<T>(call: CallKey, execution: number, act: () => T): Promise<T>;
  /** A note a tool leaves for a later execution of the same call, such as "about to rename". JSON. @throws Superseded */
  putIntent(call: CallKey, execution: number, intent: string): Promise<void>;
  getIntent(call: CallKey): Promise<string | undefined>;
  /** Intents of the task's calls that never came to a result. */
  leftIntents(task: TaskId): Promise<string[]>;
  /** SHA-256 of what the task last read of a file, or wrote to it; undefined when it has done neither. */
  lastSeen(task: TaskId, path: string): Promise<string | undefined>;
  /** @param path real path. @param content SHA-256, hex */
  noteSeen(task: TaskId, path: string, content: string): Promise<void>;

  /**
   * First write wins; returns what is stored, so that two executions report the same.
   * @param execution the claim it comes from, for a call that may change something; an older one knows less than the newest
   * @throws Superseded
   */
  putResult(row: ToolResultRow, events: NewEvent[], execution?: number): Promise<ToolResultRow>;
  getResult(call: CallKey): Promise<ToolResultRow | undefined>;

  /** Writes or renews the lease of a worker; `ttlMs` from now. */
  renewLease(
    lease: Pick<HostLease, 'host' | 'queue' | 'pid'> & { server?: string; role?: WorkerRole },
    ttlMs: number,
  ): Promise<void>;
  dropLease(lease: Pick<HostLease, 'host' | 'pid'>): Promise<void>;
  /** Workers whose lease has not run out. */
  liveWorkers(): Promise<HostLease[]>;
  /** Those of them that serve workspaces. */
  liveHosts(): Promise<HostLease[]>;
}
