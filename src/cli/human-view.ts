import type { Ask } from '../domain/asks.js';
import type { ClosedEvent, Partial, RewoundEvent, SayEvent, StatusEvent, StoredEvent } from '../domain/events.js';
import type { Journal } from '../journal/journal.js';
import { type Shown, type ShownStream, Transcript } from '../journal/rebuild.js';
import { outputStream } from '../journal/streams.js';
import { askLines } from './asking.js';
import { CallResults } from './call-results.js';
import { CommandOutput } from './command-output.js';
import { lineOf } from './event-lines.js';
import { type Io, type Paint, painter } from './io.js';
import { Lines } from './lines.js';
import { neutralise, neutralLine } from './neutral.js';
import { markdownProse, rendered } from './prose.js';
import { Screen } from './screen.js';
import { StreamedText } from './streamed-text.js';
import { count, dateTime, duration, money, tokens } from './text.js';
import type { RunEnd, TaskHead, View } from './view.js';
import { commandOf, outcomeWords, todoLines } from './words.js';

type Final = Extract<Shown, { final: StoredEvent }>;

/** Lines of a prompt or message that are shown, and of a todo list. */
const PROMPT_LINES = 12;
const TODO_LINES = 20;

export interface ViewOptions {
  /** Say below each ask how it is answered: off where this command asks itself. */
  howToAnswer?: boolean;
  /** Say when things happened: for a log that is read afterwards. */
  times?: boolean;
  /** Leave nothing out of prompts, diffs and outputs. */
  full?: boolean;
}

/** A readable account of a task, as it happens. */
export class HumanView implements View {
  readonly screen: Screen;
  private readonly paint: Paint;
  private readonly lines: Lines;
  private readonly transcript = new Transcript();
  private readonly asked = new Map<string, Ask>();
  private readonly streams: StreamedText;
  private readonly calls: CallResults;
  private startedAt: number | undefined;
  private resultShown = false;
  private todo = '';

  constructor(
    private readonly io: Io,
    private readonly journal: Pick<Journal, 'getText'>,
    private readonly options: ViewOptions = {},
  ) {
    this.screen = new Screen(io.stdout);
    this.paint = painter(io.colour);
    this.lines = new Lines(io, this.screen, this.paint, options.times ?? false);
    const full = options.full ?? false;
    const commands = new CommandOutput(this.screen, this.paint, full);
    this.streams = new StreamedText(io, this.screen, this.paint, commands);
    this.calls = new CallResults(io, journal, this.screen, this.paint, commands, this.lines, full);
  }

  head(head: TaskHead): void {
    const { task, model, workspace } = head;
    this.lines.wrapped(`${this.paint('bold', `task ${task}`)}  ${neutralLine(model)}  ${neutralLine(workspace)}`);
    if (head.ui) this.screen.line(this.paint('dim', `Temporal UI: ${head.ui}`));
  }

  async event(stored: StoredEvent): Promise<void> {
    this.startedAt ??= stored.at;
    for (const shown of this.transcript.apply({ event: stored })) await this.show(shown);
  }

  async partial(partial: Partial): Promise<void> {
    for (const shown of this.transcript.apply({ partial })) await this.show(shown);
  }

  notice(status: 'no_worker' | 'worker_back', text: string): void {
    this.lines.text(status === 'no_worker' ? 'yellow' : 'dim', text, '  ', false);
  }

  /** Something this command has to say of itself. */
  aside(text: string): void {
    this.lines.text('yellow', neutralise(text), '  ', false);
  }

  detached(task: string): void {
    this.screen.line(`The task goes on. Come back with: ${this.io.command} attach ${task}`);
  }

  end(end: RunEnd): void {
    const { outcome } = end;
    if (outcome.outcome === 'completed' && !this.resultShown) this.result(end.result ?? '');
    if (outcome.outcome === 'needs_human') {
      const { until, question } = outcome;
      const waits =
        until === undefined ? 'waits for a person' : `goes on by itself at ${dateTime(until)}, or with an answer`;
      this.lines.text('yellow', `The task ${waits}: ${neutralLine(question)}`, '  ', false);
      this.screen.line(`Answer with:    ${end.answer?.command ?? `${this.io.command} show ${end.task}`}`);
      this.screen.line(`Come back with: ${this.io.command} attach ${end.task}`);
    }
    if (end.unconfirmed) {
      this.screen.line(this.paint('yellow', 'Cancellation has been asked for; no worker has confirmed it yet.'));
      this.screen.line(`See: ${this.io.command} show ${end.task}`);
    }
  }

  private async show(shown: Shown): Promise<void> {
    if ('append' in shown) this.streams.append(shown.stream, shown.kind, shown.append);
    else if ('retracted' in shown) this.retracted(shown.retracted, shown.by);
    else await this.stored(shown);
  }

  private retracted(streams: readonly ShownStream[], by: StoredEvent | undefined): void {
    for (const { stream } of streams) this.streams.drop(stream);
    if (!streams.some(({ kind, text }) => text !== '' && kind !== 'tool_input')) return;
    const reason = by?.event.type === 'retract' ? `: ${neutralLine(by.event.reason)}` : '';
    this.screen.line(this.paint('yellow', `  (this answer is void and begins again${reason})`));
  }

  private async stored(shown: Final): Promise<void> {
    const { task, at, event } = shown.final;
    this.lines.at = at;
    switch (event.type) {
      case 'say':
        await this.say(event, shown);
        return;
      case 'ask': {
        const { id, call } = event.ask;
        this.asked.set(id, event.ask);
        if (call !== undefined) this.calls.asked(call);
        const all = this.options.full ? { maxLines: Number.POSITIVE_INFINITY } : {};
        const layout = { io: this.io, howTo: this.options.howToAnswer ?? false, ...all };
        const lines = await askLines(event, task, this.journal, layout);
        for (const [i, line] of lines.entries()) this.screen.line(i === 1 ? line + this.lines.time() : line);
        return;
      }
      case 'retract':
        return;
      case 'rewound':
        this.rewound(event);
        return;
      case 'ask_closed':
      case 'ask_reminder':
      case 'pause':
      case 'mode':
      case 'limits': {
        const { style, text, indent } = lineOf(event, 'ask' in event ? this.asked.get(event.ask) : undefined);
        this.lines.text(style, text, indent, true);
        return;
      }
      case 'status':
        this.status(event);
        return;
      case 'closed':
        this.closed(event, at);
        return;
    }
  }

  private async say(event: SayEvent, shown: Final): Promise<void> {
    const { paint, screen } = this;
    switch (event.say) {
      case 'task':
      case 'user_feedback':
        this.quoted(event.text);
        for (const { kind, name } of event.attachments ?? [])
          this.lines.text('cyan', `> [${kind}: ${neutralLine(name)}]`, '> ', false);
        return;
      case 'text':
      case 'reasoning':
        this.streams.finish(event, shown);
        return;
      case 'api_req_started': {
        const again = event.attempt > 1 ? `, try ${event.attempt}` : '';
        screen.line(paint('dim', `turn ${event.number}${again}`) + this.lines.time());
        return;
      }
      case 'api_req_finished':
        if (['tool_use', 'end_turn'].includes(event.stop)) return;
        screen.line(paint('yellow', `  (the answer ended early: ${neutralLine(event.stop)})`));
        return;
      case 'error_retry': {
        const when = `try ${event.tries} of ${event.maxTries} in ${duration(event.delayMs)}`;
        this.lines.text('yellow', `  provider: ${neutralLine(event.message)}; ${when}`, '    ', true);
        return;
      }
      case 'error':
        this.lines.text('red', `error: ${neutralise(event.text)}`, '       ', true);
        return;
      case 'info':
        this.lines.text('dim', `  ${neutralise(event.text)}`, '  ', false);
        return;
      case 'tool':
        this.calls.begun(event.call, event.summary);
        return;
      case 'command':
        this.lines.fitted('bold', `$ ${commandOf(event)}`);
        return;
      case 'tool_result':
        await this.calls.tool(event, shown.final.task);
        return;
      case 'command_output':
        this.streams.finishOutput(outputStream(event.call));
        this.calls.command(event);
        return;
      case 'completion_result':
        this.result(event.text);
        return;
      case 'task_progress':
        this.progress(event);
        return;
    }
  }

  /** Whole when it has changed: it is what people follow the work by. */
  private progress({ text, done, total }: Extract<SayEvent, { say: 'task_progress' }>): void {
    if (text === this.todo) return;
    this.todo = text;
    this.lines.text('bold', `  todo list: ${done}/${total} done`, '  ', true);
    const lines = todoLines(text);
    const most = this.options.full ? lines.length : TODO_LINES;
    for (const line of lines.slice(0, most)) this.lines.text('dim', `  ${line}`, '      ', false);
    if (lines.length > most) this.screen.line(this.paint('dim', `  … ${count(lines.length - most, 'more line')}`));
  }

  private rewound({ kept, dropped }: RewoundEvent): void {
    const words = `${count(dropped, 'message')} taken back, ${kept} left; what was done in the workspace stays`;
    this.lines.text('yellow', `  the conversation was rewound: ${words}`, '    ', true);
  }

  private quoted(text: string): void {
    const lines = neutralise(text).trimEnd().split('\n');
    const most = this.options.full ? lines.length : PROMPT_LINES;
    for (const [i, line] of lines.slice(0, most).entries()) this.lines.text('cyan', `> ${line}`, '> ', i === 0);
    if (lines.length > most) this.screen.line(this.paint('dim', `> … ${count(lines.length - most, 'more line')}`));
  }

  private status(event: StatusEvent): void {
    const reason = event.reason ? `: ${neutralLine(event.reason)}` : '';
    switch (event.status) {
      case 'parked': {
        const until = event.until === undefined ? '' : ` until ${dateTime(event.until)}`;
        this.lines.text('yellow', `parked${until}${reason}`, '  ', true);
        return;
      }
      case 'aborting':
      case 'paused':
      case 'no_worker':
        this.lines.text('yellow', `${event.status.replace('_', ' ')}${reason}`, '  ', true);
        return;
      case 'starting':
      case 'running':
      case 'waiting':
      case 'completed':
      case 'budget':
      case 'cancelled':
      case 'failed':
        return;
    }
  }

  private result(text: string): void {
    this.resultShown = true;
    this.screen.line();
    this.screen.line(rendered(markdownProse(this.io), neutralise(text)));
    this.screen.line();
  }

  private closed({ outcome, totals }: ClosedEvent, at: number): void {
    const time = this.startedAt === undefined ? [] : [duration(at - this.startedAt)];
    const sums = [count(totals.turns, 'turn'), tokens(totals.usage), money(totals.cost), ...time].join(' · ');
    const words = this.paint(outcome.outcome === 'completed' ? 'green' : 'red', outcomeWords(outcome));
    this.lines.wrapped(`${words} · ${sums}${this.lines.time()}`);
  }
}
