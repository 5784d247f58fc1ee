import type { Answer, Ask } from '../domain/asks.js';
import { LonghaulError } from '../domain/errors.js';
import type { AskEvent } from '../domain/events.js';
import { EXIT, exitCodeOf, isOpen, type Outcome } from '../domain/outcomes.js';
import type { Journal } from '../journal/journal.js';
import { LogState, storedEvents } from '../journal/log-state.js';
import { defaultAnswer, howToAnswer, needsPerson } from './asking.js';
import { nextOf } from './called-as.js';
import type { OnAsk } from './flags.js';
import { HumanView } from './human-view.js';
import type { Io } from './io.js';
import { neutralise } from './neutral.js';
import { Prompter } from './prompter.js';
import type { Stop, StopSignals } from './signals.js';
import type { RunEnd, View } from './view.js';
import { watchWorkers } from './watch-workers.js';

/** How long an interrupted command waits for the cancelled task to end. */
const ABORT_WAIT_MS = 8000;
/** Exit code of a command that SIGTERM made leave while its task goes on (128 + 15). */
const TERMINATED = 143;

/** What following a task may do to it. */
export interface TaskActions {
  answer(task: string, answer: Answer): Promise<unknown>;
  abort(task: string): Promise<void>;
}

export interface FollowOptions {
  io: Io;
  journal: Journal;
  actions: TaskActions;
  view: View;
  signals: StopSignals;
  task: string;
  /** First event to show. */
  from: number;
  /** `prompt`: ask the person at the terminal. */
  onAsk: OnAsk | 'prompt';
  /** Time people have before a default is taken, in ms. */
  defaultDelayMs?: number;
  /** Whether the task can go on without this command; default true. Otherwise leaving means to abort it. */
  detachable?: boolean;
}

type End = { end: 'outcome'; run: RunEnd } | { end: 'detached'; code: number };

/** Shows a task until it ends or this command leaves it. @returns the exit code */
export async function follow(options: FollowOptions): Promise<number> {
  const following = new Following(options);
  const end = await following.run();
  if (end.end === 'detached') {
    options.view.detached(options.task);
    return end.code;
  }
  options.view.end(end.run);
  return exitCodeOf(end.run.outcome);
}

class Following {
  private readonly state = new LogState();
  private readonly tailing = new AbortController();
  private readonly prompter: Prompter | undefined;
  private readonly timers: NodeJS.Timeout[] = [];
  private aborting = false;
  private choosing = false;
  private finish: (end: End) => void = () => {};
  private fail: (err: unknown) => void = () => {};
  private unwatch: () => void = () => {};

  constructor(private readonly o: FollowOptions) {
    if (o.onAsk !== 'prompt' && !o.io.interactive) return;
    if (!(o.view instanceof HumanView)) return;
    this.prompter = new Prompter(o.io, o.view.screen, {
      submit: (answer) => this.submit(answer),
      interrupted: () => this.stop('interrupt'),
      ended: () => this.leave(EXIT.completed),
    });
  }

  async run(): Promise<End> {
    const ended = new Promise<End>((resolve, reject) => {
      this.finish = resolve;
      this.fail = reject;
    });
    try {
      const before = await this.backlog();
      if (before) return before;
      this.o.signals.handle((stop) => this.stop(stop));
      const { journal, task, view, io } = this.o;
      this.unwatch = await watchWorkers({ journal, task, view, command: io.command, fail: this.fail });
      for (const event of this.state.open.values()) this.opened(event);
      this.tail().catch(this.fail);
      return await ended;
    } finally {
      this.unwatch();
      for (const timer of this.timers) clearTimeout(timer);
      this.prompter?.close();
      this.tailing.abort();
    }
  }

  /** What happened before this command came. @returns an end when the task is closed */
  private async backlog(): Promise<End | undefined> {
    for await (const stored of storedEvents(this.o.journal, this.o.task)) {
      this.state.apply(stored);
      if (stored.seq >= this.o.from) await this.o.view.event(stored);
    }
    if (!this.state.closed) return undefined;
    const row = await this.o.journal.getTask(this.o.task);
    return row && isOpen(row.status) ? undefined : this.outcome(this.state.closed.outcome);
  }

  private async tail(): Promise<void> {
    const { journal, task, view } = this.o;
    for await (const item of journal.tail(task, this.state.seq, this.tailing.signal)) {
      if ('partial' in item) {
        await view.partial(item.partial);
        continue;
      }
      const { event } = item.event;
      this.state.apply(item.event);
      if (event.type === 'ask_closed') this.prompter?.withdraw(event.ask);
      if (event.type === 'closed') this.prompter?.close();
      if (item.event.seq >= this.o.from) await view.event(item.event);
      if (event.type === 'ask') this.opened(event);
      if (event.type === 'closed') return this.finish(await this.outcome(event.outcome));
    }
  }

  private opened(event: AskEvent): void {
    const { ask } = event;
    if (this.aborting) return;
    switch (this.o.onAsk) {
      case 'prompt':
        this.prompter?.add(ask);
        return;
      case 'wait':
        return;
      case 'exit':
        if (needsPerson(ask)) this.needsHuman(event).then(this.finish, this.fail);
        return;
      case 'default': {
        const answer = defaultAnswer(ask);
        if (!answer) return;
        this.later(this.o.defaultDelayMs ?? 0, () => this.answerByDefault(ask, answer).catch(this.fail));
      }
    }
  }

  private async answerByDefault(ask: Ask, answer: Answer): Promise<void> {
    if (!this.state.open.has(ask.id) || this.aborting) return;
    try {
      await this.o.actions.answer(this.o.task, answer);
    } catch (err) {
      if (!(LonghaulError.is(err) && err.slug === 'ask-refused')) throw err;
    }
  }

  private async submit(answer: Answer): Promise<string | undefined> {
    try {
      await this.o.actions.answer(this.o.task, answer);
      return undefined;
    } catch (err) {
      if (!LonghaulError.is(err)) throw err;
      return neutralise([err.message, nextOf(err, this.o.io.command)].filter((part) => part !== undefined).join(' '));
    }
  }

  private stop(stop: Stop): void {
    if (stop === 'detach') {
      this.leave(TERMINATED);
      return;
    }
    if (this.choosing || !this.prompter) {
      this.abort();
      return;
    }
    this.choosing = true;
    const detachable = this.o.detachable ?? true;
    const choices = detachable
      ? 'detach or abort? [d/a; anything else goes on] '
      : 'abort? [a; anything else goes on] ';
    this.prompter.choose(choices, (typed) => {
      this.choosing = false;
      const word = typed.trim().toLowerCase();
      if (detachable && ['d', 'detach'].includes(word)) this.leave(EXIT.completed);
      if (['a', 'abort'].includes(word)) this.abort();
    });
  }

  private leave(code: number): void {
    if (this.o.detachable ?? true) this.finish({ end: 'detached', code });
    else this.abort();
  }

  private abort(): void {
    if (this.aborting) return;
    this.aborting = true;
    this.prompter?.close();
    this.o.actions.abort(this.o.task).catch(this.fail);
    this.later(ABORT_WAIT_MS, async () => {
      const end = await this.outcome({ outcome: 'cancelled' });
      if (end.end === 'outcome') this.finish({ ...end, run: { ...end.run, unconfirmed: true } });
    });
  }

  private async needsHuman(event: AskEvent): Promise<End> {
    const { ask } = event;
    const { task } = this.o;
    const run = await this.runEnd();
    return {
      end: 'outcome',
      run: {
        ...run,
        outcome: { outcome: 'needs_human', ask: ask.id, question: ask.question },
        answer: howToAnswer(event, task, this.o.io.command),
      },
    };
  }

  private async outcome(outcome: Outcome): Promise<End> {
    const run = { ...(await this.runEnd()), outcome };
    if (outcome.outcome !== 'completed') return { end: 'outcome', run };
    return { end: 'outcome', run: { ...run, result: await this.o.journal.getText(outcome.result) } };
  }

  private async runEnd(): Promise<Omit<RunEnd, 'outcome'>> {
    const { task, journal } = this.o;
    if (this.state.closed) return { task, totals: this.state.closed.totals };
    const [row, sums] = [await journal.getTask(task), await journal.totals(task)];
    return { task, totals: { turns: row?.turns ?? 0, usage: sums.usage, cost: sums.cost } };
  }

  private later(ms: number, act: () => void | Promise<void>): void {
    this.timers.push(setTimeout(() => void Promise.resolve(act()).catch(this.fail), ms));
  }
}
