import type { Generated } from 'kysely';
import type { Partial as Piece } from '../domain/events.js';
import type { TaskStatus } from '../domain/outcomes.js';
import type { WorkerRole } from '../domain/queues.js';
import type { StopReason } from '../domain/turn.js';

/**
 * Tables of the journal. Columns named `json` and free text hold JSON text, since raw text loses U+0000 and half
 * surrogate pairs. Times are ms since the epoch, costs USD, truth values 0 or 1.
 */
export interface JournalSchema {
  journal: { id: string; generation: number };
  task: {
    id: string;
    created: number;
    /** JSON text */
    workspace: string;
    model: string;
    /** JSON text */
    title: string;
    server: string;
    status: TaskStatus;
    since: number;
    turns: number;
    cost: number;
    input: string;
    carried: string | null;
    /** Temporal's id of the newest run that has done something; null before the first */
    run: string | null;
    /** Provider profile of the newest request; null before the first */
    profile: string | null;
    /** Root of the task tree; the task itself unless another one has started it. */
    root: string;
    /** In the row of a root: what its tree has used, closed turns and settled attempts. */
    tree_turns: number;
    tree_tokens: number;
    tree_cost: number;
    /** `seq` of the task's last log event */
    seq: number;
  };
  log: {
    task: string;
    seq: number;
    at: number;
    key: string | null;
    /** The stream that this event is the final word on, see `endedStream`. */
    ends: string | null;
    json: string;
  };
  message: {
    id: string;
    parent: string | null;
    task: string;
    /** The first message of its conversation. */
    root: string;
    /** UTF-16 units of `json`, of this message and all before it. */
    total: number;
    json: string;
  };
  turn: {
    turn: string;
    task: string;
    head: string | null;
    /** The newest claim. */
    attempt: number;
    /** The newest attempt whose display is void; 0 for none. */
    retracted: number;
    /** Order of the execution that claimed last. */
    dispatch: number;
    state: 'open' | 'committed' | 'closed';
    stop: StopReason | null;
    /** JSON of the usage; null until closed */
    usage: string | null;
    cost: number;
    /** Hash of what `closeTurn` was given; null when a later claim closed the turn. */
    closing: string | null;
  };
  block: { turn: string; attempt: number; position: number; json: string; call: string | null };
  usage: {
    turn: string;
    attempt: number;
    task: string;
    model: string;
    input_tokens: number;
    output_tokens: number;
    cache_write_tokens: number;
    cache_read_tokens: number;
    cost: number;
    estimated: number;
    at: number;
  };
  ledger: {
    /** Root task of the tree that pays. */
    root: string;
    turn: string;
    attempt: number;
    model: string;
    tokens: number;
    cost: number;
    /** JSON of the estimate that settles an attempt nobody could settle. */
    estimate: string;
    settled: number;
  };
  call: { call: string; task: string; execution: number; dispatch: number; intent: string | null };
  result: { call: string; json: string };
  /** `path` is the SHA-256 of a real path, `content` that of the bytes. */
  seen: { task: string; path: string; content: string };
  blob: { id: string; bytes: number; base64: string };
  lease: { host: string; role: WorkerRole; queue: string; server: string; pid: number; until: number };
}

/** Tables of the file for partials, which may be lost at any time. */
export interface PartialsSchema {
  partial: {
    /** Never used twice, also after rows were deleted: followers remember the last one they saw. */
    id: Generated<number>;
    task: string;
    turn: string;
    stream: string;
    attempt: number;
    kind: Piece['kind'];
    position: number;
    /** UTF-16 units */
    length: number;
    json: string;
  };
}
