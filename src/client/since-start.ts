import type { Ask } from '../domain/asks.js';
import type { AskClosedEvent, RewoundEvent, SayEvent, TaskEvent } from '../domain/events.js';
import { type CallKey, splitCallKey, type TurnKey } from '../domain/ids.js';
import type { Mode } from '../domain/modes.js';
import type { CarriedState } from '../domain/task.js';
import type { Notice, UserMessage, Verdict } from '../domain/turn.js';

/** Ids of closed asks that are remembered. */
const SETTLED_ASKS = 20;

/** What the task log says of a run, and so of its state. */
export class SinceStart {
  /** The newest turn that was asked for. */
  turn: TurnKey | undefined;
  /** The conversation was taken back after it. */
  rewound: RewoundEvent | undefined;
  /** Calls whose tools have begun. */
  readonly begun = new Set<CallKey>();
  /** The todo list that was given last. */
  todo: Extract<SayEvent, { say: 'task_progress' }> | undefined;
  private readonly verdicts = new Map<CallKey, Verdict>();
  private readonly asks = new Map<string, Ask>();
  private readonly settled: string[] = [];
  private words: UserMessage[] = [];
  private notices: Notice[];
  private mode: Mode;
  private limits: CarriedState['limits'];

  /** @param base what the run began from */
  constructor(private readonly base: CarriedState) {
    this.notices = [...base.notices];
    this.mode = base.mode;
    this.limits = base.limits;
  }

  apply(event: TaskEvent): void {
    switch (event.type) {
      case 'say':
        this.said(event);
        break;
      case 'ask':
        this.asks.set(event.ask.id, event.ask);
        break;
      case 'ask_closed':
        this.settled.push(event.ask);
        this.answered(this.asks.get(event.ask), event);
        break;
      case 'rewound':
        this.rewound = event;
        this.notices = ['rewound', modeNotice(this.mode)];
        this.words = event.said === undefined ? [] : [{ as: 'user_message', text: event.said }];
        break;
      case 'mode':
        this.mode = event.mode;
        this.notices = this.notices.filter((notice) => notice !== 'plan_mode' && notice !== 'act_mode');
        this.notices.push(modeNotice(event.mode));
        break;
      case 'limits':
        this.limits = event.limits;
        break;
      case 'ask_reminder':
      case 'retract':
      case 'status':
      case 'pause':
      case 'closed':
        break;
    }
  }

  /** What became of the calls of a turn that have no result of their own. */
  verdictsOf(turn: TurnKey): Verdict[] {
    return [...this.verdicts].flatMap(([call, verdict]) => (splitCallKey(call).turn === turn ? [verdict] : []));
  }

  /** All but where the conversation stands. */
  get state(): CarriedState {
    const { base, mode, limits, notices } = this;
    const unsent = this.turn === undefined ? base.messages : [];
    const messages = [...unsent, ...this.words];
    const settledAsks = [...base.settledAsks, ...this.settled].slice(-SETTLED_ASKS);
    return { ...base, mode, limits, notices, messages, settledAsks };
  }

  private said(event: SayEvent): void {
    switch (event.say) {
      case 'api_req_started':
        if (event.turn === this.turn) return;
        this.turn = event.turn;
        this.rewound = undefined;
        this.words = [];
        this.notices = [];
        return;
      case 'tool':
      case 'command':
        this.begun.add(event.call);
        return;
      case 'task_progress':
        this.todo = event;
        return;
    }
  }

  private answered(ask: Ask | undefined, { by, answer, text, textRef, attached }: AskClosedEvent): void {
    if (!ask || by === 'cancelled') return;
    const said = textRef ?? (text === undefined ? undefined : { text });
    const words = said && { text: said, ...(attached && { attachments: attached }) };
    if (ask.call === undefined) {
      const as = ask.kind === 'mistake_limit_reached' ? 'feedback' : 'user_message';
      if (words) this.words.push({ as, ...words });
      return;
    }
    const { block } = splitCallKey(ask.call);
    const done = { block, status: 'done' } as const;
    switch (ask.kind) {
      case 'tool':
      case 'command':
        if (answer !== 'yes') this.verdicts.set(ask.call, { block, status: 'denied', ...words });
        else if (words) this.verdicts.set(ask.call, { ...done, ...words });
        return;
      case 'followup':
        if (!words && by === 'default') this.verdicts.set(ask.call, { ...done, note: 'nobody_answers' });
        else this.verdicts.set(ask.call, { ...done, as: 'answer', ...(words ?? { text: { text: answer } }) });
        return;
      case 'plan_mode_respond':
        if (answer === 'yes') {
          this.verdicts.set(ask.call, { ...done, as: 'user_message', ...words, note: 'switched_to_act' });
        } else this.verdicts.set(ask.call, { ...done, as: 'user_message', ...(words ?? { text: { text: answer } }) });
        return;
      case 'mistake_limit_reached':
      case 'api_req_failed':
      case 'budget_limit_reached':
        return;
    }
  }
}

function modeNotice(mode: Mode): Notice {
  return mode === 'plan' ? 'plan_mode' : 'act_mode';
}
