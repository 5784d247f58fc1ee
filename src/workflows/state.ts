import { uuid4 } from '@temporalio/workflow';
import type { Answer, Ask } from '../domain/asks.js';
import type { TextRef } from '../domain/blocks.js';
import { HASH_LENGTH, shortHash } from '../domain/hash.js';
import type { TaskStatus } from '../domain/outcomes.js';
import type { RewindPlace } from '../domain/rewind.js';
import { DEFAULT_TASK_SETTINGS, type TaskSettings } from '../domain/settings.js';
import { startState } from '../domain/start-state.js';
import type { CarriedState, TaskInput } from '../domain/task.js';
import type { Notice, TaskRef, TurnSettings, UserMessage } from '../domain/turn.js';
import { type Host, hostActivities } from './activities.js';
import type { CallInbox } from './inbox.js';

/** Client ids that are remembered. */
const SEEN_IDS = 256;
/** Ids of settled asks that are remembered, to tell a second answer from a wrong one. */
const SETTLED_ASKS = 20;

/** An open ask with the answer it is waiting for. */
export interface OpenAsk {
  ask: Ask;
  settled?: { answer: Answer; by: 'person' | 'default' };
}

/** Everything a task knows. The workflow is the only writer; `carried` is what the next run gets. */
export class Task {
  readonly ref: TaskRef;
  readonly settings: TaskSettings;
  readonly host: Host;
  readonly carried: CarriedState;
  readonly asks: OpenAsk[] = [];
  status: TaskStatus = 'starting';
  /** ms since the epoch, while parked */
  parkedUntil: number | undefined;
  /** The run is writing its end: messages are refused, since nobody would read them. */
  closing = false;
  /** Where a streaming answer's calls arrive. */
  inbox: CallInbox | undefined;
  /** Messages that go with the request being made; they are delivered when its answer is there. */
  readonly takenMessages: UserMessage[] = [];
  /** The same of notices: those that come up while the answer streams are the next request's. */
  readonly takenNotices: Notice[] = [];
  /** The conversation is to be taken back, as soon as what is being done is broken off. */
  rewind: { to: RewindPlace; text?: TextRef } | undefined;
  /** Breaks off what is being done, for a rewind. */
  interrupt: (() => void) | undefined;
  /** The time limit has passed. */
  timedOut = false;
  /** Shown in the Temporal UI: what is being done. */
  doing = '';

  constructor(
    readonly input: TaskInput,
    now: number,
  ) {
    const { task, journal, workspace, epoch, settings } = input;
    this.ref = { task, journal, workspace, epoch };
    this.settings = { ...DEFAULT_TASK_SETTINGS, ...settings };
    this.host = hostActivities(input.hostQueue);
    this.carried = startState(input, now);
  }

  /** The settings of one turn, taken once at its start. */
  turnSettings(): TurnSettings {
    const { model, planModel, policy, strictPlanMode, toolProtocol, focusChain } = this.settings;
    const { mode, profile } = this.carried;
    return {
      model: mode === 'plan' ? (planModel ?? model) : model,
      profile,
      policy,
      mode,
      strictPlanMode,
      toolProtocol,
      focusChain,
    };
  }

  /** These go with the request that is made next. */
  take(messages: readonly UserMessage[]): void {
    for (const message of messages) this.takenMessages.push({ ...message, id: message.id ?? uuid4() });
  }

  /** What was taken for a request that has no answer goes with the next one. */
  putBackTaken(): void {
    this.carried.messages.unshift(...this.takenMessages.splice(0));
    this.carried.notices.unshift(...this.takenNotices.splice(0));
  }

  hasSeen(clientId: string | undefined): boolean {
    if (clientId === undefined) return false;
    const hash = shortHash(clientId);
    for (let at = 0; at < this.carried.seen.length; at += HASH_LENGTH) {
      if (this.carried.seen.startsWith(hash, at)) return true;
    }
    return false;
  }

  remember(clientId: string | undefined): void {
    if (clientId === undefined) return;
    this.carried.seen = (this.carried.seen + shortHash(clientId)).slice(-SEEN_IDS * HASH_LENGTH);
  }

  closeAsk(open: OpenAsk): void {
    this.asks.splice(this.asks.indexOf(open), 1);
    this.carried.settledAsks = [...this.carried.settledAsks, open.ask.id].slice(-SETTLED_ASKS);
  }
}
