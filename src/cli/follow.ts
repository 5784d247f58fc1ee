import type { Answer, Ask } from '../domain/asks.js';
import { LonghaulError } from '../domain/errors.js';
import type { AskEvent } from '../domain/events.js';
import { EXIT, exitCodeOf, isOpen, type Outcome } from '../domain/outcomes.js';
import type { Journal } from '../journal/journal.js';
import { LogState, storedEvents } from '../journal/log-state.js';
import { defaultAnswer, givenAnswer, howToAnswer, needsPerson, parkedUntil } from './asking.js';
import { nextOf } from './called-as.js';
import { Delivery, isPassing, type TaskActions } from './delivery.js';
import type { OnAsk } from './flags.js';
import { HumanView } from './human-view.js';
import { type Io, printNote } from './io.js';
import { neutralise } from './neutral.js';
import { Prompter, type Refusal } from './prompter.js';
import type { Stop, StopSignals } from './signals.js';
import { TaskWatch } from './task-watch.js';
import type { RunEnd, View } from './view.js';

/** How long an interrupted command waits for the cancelled task to end. */
const ABORT_WAIT_MS = 8000;
/** A default answer that could not be given is given when the server is back. */
const DEFAULT_AGAIN_MS = 1000;
/** Exit code of a command that SIGTERM made leave while its task goes on (128 + 15). */
const TERMINATED = 143;

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
  /** How long an answer is tried to be given while nobody can be reached, in ms. */
  answerForMs?: number;
  /** Whether the local service runs, for a task that is on it. */
  serviceRuns?: () => Promise<boolean>;
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
  private readonly watch: TaskWatch;
  private readonly delivery: Delivery;
  private readonly timers: NodeJS.Timeout[] = [];
  private aborting = false;
  private choosing = false;
  private finish: (end: End) => void = () => {};
  private fail: (err: unknown) => void = () => {};

  constructor(private readonly o: FollowOptions) {
    const { io, journal, task, view, serviceRuns } = o;
    this.watch = new TaskWatch({ io, journal, task, view, serviceRuns, fail: (err) => this.fail(err) });
    const say = (line: string) => this.note(line);
    this.delivery = new Delivery(o.actions, task, say, this.tailing.signal, o.answerForMs);
    if (o.onAsk !== 'prompt' && !o.io.interactive) return;
    if (!(view instanceof HumanView)) return;
    this.prompter = new Prompter(io, view.screen, {
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
      await this.watch.start();
      for (const event of this.state.open.values()) this.opened(event);
      // a journal that was replaced fails in many ways
      this.tail().catch((err) => this.o.journal.check().then(() => this.fail(err), this.fail));
      return await ended;
    } finally {
      for (const timer of this.timers) clearTimeout(timer);
      this.prompter?.close();
      this.watch.stop();
      this.tailing.abort();
    }
  }

  /** What happened before this command came. @returns an end when the task is closed */
  private async backlog(): Promise<End | undefined> {
    for await (const stored of storedEvents(this.o.journal, this.o.task)) {
      this.state.apply(stored);
      this.watch.event(stored);
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
        this.watch.partial(item.partial);
        await view.partial(item.partial);
        continue;
      }
      const { event } = item.event;
      this.state.apply(item.event);
      this.watch.event(item.event);
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
      // nobody is there who wants the service back
      if ((await this.o.serviceRuns?.()) !== false) return await this.delivery.answer(answer);
    } catch (err) {
      if (LonghaulError.is(err) && err.slug === 'ask-refused') return;
      if (!isPassing(err)) throw err;
    }
    this.later(DEFAULT_AGAIN_MS, () => this.answerByDefault(ask, answer));
  }

  private async submit(answer: Answer): Promise<Refusal | undefined> {
    try {
      await this.delivery.answer(answer);
      return undefined;
    } catch (err) {
      const { command } = this.o.io;
      if (!LonghaulError.is(err)) return { problem: neutralise(`It was not sent: ${String(err)}`), again: true };
      if (!isPassing(err)) return { problem: neutralise([err.message, nextOf(err, command) ?? ''].join(' ').trim()) };
      const later = givenAnswer(answer, this.o.task, command);
      const problem = `It was not sent: ${err.message.replace(/\.?$/, '.')} It is kept: press Enter to send it again, or later: \`${later}\``;
      return { problem: neutralise(problem), again: true };
    }
  }

  /** A line for people about this command itself. */
  private note(line: string): void {
    if (this.o.view instanceof HumanView) this.o.view.aside(line);
    else printNote(this.o.io, line);
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
    if (!(this.o.detachable ?? true)) {
      this.abort();
      return;
    }
    const unsent = this.prompter?.unsent;
    if (unsent)
      this.note(`Your answer was not sent. Send it with: \`${givenAnswer(unsent, this.o.task, this.o.io.command)}\``);
    this.finish({ end: 'detached', code });
  }

  private abort(): void {
    if (this.aborting) return;
    this.aborting = true;
    this.prompter?.close();
    const asked = () =>
      this.later(ABORT_WAIT_MS, async () => {
        const end = await this.outcome({ outcome: 'cancelled' });
        if (end.end === 'outcome') this.finish({ ...end, run: { ...end.run, unconfirmed: true } });
      });
    this.delivery.abort(ABORT_WAIT_MS).then(asked, this.fail);
  }

  private async needsHuman(event: AskEvent): Promise<End> {
    const { ask } = event;
    const { task } = this.o;
    const run = await this.runEnd();
    const until = parkedUntil(ask);
    return {
      end: 'outcome',
      run: {
        ...run,
        outcome: { outcome: 'needs_human', ask: ask.id, question: ask.question, ...(until && { until }) },
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
