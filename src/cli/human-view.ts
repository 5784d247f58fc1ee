import type { AskKind } from '../domain/asks.js';
import type { ClosedEvent, Partial, SayEvent, StatusEvent, StoredEvent } from '../domain/events.js';
import { callKey } from '../domain/ids.js';
import type { Journal } from '../journal/journal.js';
import { type Shown, type ShownStream, Transcript } from '../journal/rebuild.js';
import { outputStream } from '../journal/streams.js';
import { askLines, closedWords } from './asking.js';
import { CommandOutput, splitResult } from './command-output.js';
import { columns, type Io, type Paint, painter, type Style } from './io.js';
import { Neutraliser, neutralise, neutralLine } from './neutral.js';
import { Screen } from './screen.js';
import { clock, count, dateTime, displayWidth, duration, fitTo, money, tokens } from './text.js';
import type { RunEnd, TaskHead, View } from './view.js';
import { commandOf, mark, outcomeWords, styleOf } from './words.js';

type CallEnd = Extract<SayEvent, { say: 'tool_result' | 'command_output' }>;
type Final = Extract<Shown, { final: StoredEvent }>;

/** Lines of a prompt or message that are shown. */
const PROMPT_LINES = 12;

export interface ViewOptions {
  /** Say below each ask how it is answered: off where this command asks itself. */
  howToAnswer?: boolean;
  /** Say when things happened: for a log that is read afterwards. */
  times?: boolean;
}

/** A readable account of a task, as it happens. */
export class HumanView implements View {
  readonly screen: Screen;
  private readonly paint: Paint;
  private readonly transcript = new Transcript();
  private readonly neutral = new Map<string, Neutraliser>();
  private readonly summaries = new Map<string, string>();
  private readonly asked = new Map<string, AskKind>();
  private readonly commands: CommandOutput;
  private day = '';
  private at = 0;
  private startedAt: number | undefined;
  private resultShown = false;

  constructor(
    private readonly io: Io,
    private readonly journal: Pick<Journal, 'getText'>,
    private readonly options: ViewOptions = {},
  ) {
    this.screen = new Screen(io.stdout);
    this.paint = painter(io.colour);
    this.commands = new CommandOutput(this.screen, this.paint);
  }

  head(head: TaskHead): void {
    this.screen.line(
      `${this.paint('bold', `task ${head.task}`)}  ${neutralLine(head.model)}  ${neutralLine(head.workspace)}`,
    );
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
    this.screen.line(this.paint(status === 'no_worker' ? 'yellow' : 'dim', text));
  }

  detached(task: string): void {
    this.screen.line(`The task goes on. Come back with: ${this.io.command} attach ${task}`);
  }

  end(end: RunEnd): void {
    const { outcome } = end;
    if (outcome.outcome === 'completed' && !this.resultShown) this.result(end.result ?? '');
    if (outcome.outcome === 'needs_human') {
      this.screen.line(this.paint('yellow', `The task waits for a person: ${neutralLine(outcome.question)}`));
      this.screen.line(`Answer with:    ${end.answer?.command ?? `${this.io.command} show ${end.task}`}`);
      this.screen.line(`Come back with: ${this.io.command} attach ${end.task}`);
    }
    if (end.unconfirmed) {
      this.screen.line(this.paint('yellow', 'Cancellation has been asked for; no worker has confirmed it yet.'));
      this.screen.line(`See: ${this.io.command} show ${end.task}`);
    }
  }

  private async show(shown: Shown): Promise<void> {
    if ('append' in shown) this.append(shown.stream, shown.kind, this.clean(shown.stream, shown.append));
    else if ('retracted' in shown) this.retracted(shown.retracted, shown.by);
    else await this.stored(shown);
  }

  private append(stream: string, kind: Partial['kind'], text: string): void {
    switch (kind) {
      case 'text':
        this.screen.piece(stream, text);
        return;
      case 'reasoning':
        this.screen.piece(stream, text, '~ ', (part) => this.paint('dim', part));
        return;
      case 'command_output':
        this.commands.piece(stream, text);
        return;
      case 'tool_input':
        return;
    }
  }

  private retracted(streams: readonly ShownStream[], by: StoredEvent | undefined): void {
    for (const { stream } of streams) this.neutral.delete(stream);
    if (!streams.some(({ kind, text }) => text !== '' && kind !== 'tool_input')) return;
    const reason = by?.event.type === 'retract' ? `: ${neutralLine(by.event.reason)}` : '';
    this.screen.line(this.paint('yellow', `  (this answer is void and begins again${reason})`));
  }

  private async stored(shown: Final): Promise<void> {
    const { task, at, event } = shown.final;
    this.at = at;
    switch (event.type) {
      case 'say':
        this.say(event, shown);
        return;
      case 'ask': {
        this.asked.set(event.ask.id, event.ask.kind);
        const { command } = this.io;
        const howTo = this.options.howToAnswer ?? false;
        const lines = await askLines(event, task, this.journal, { paint: this.paint, command, howTo });
        for (const [i, line] of lines.entries()) this.screen.line(i === 1 ? line + this.time() : line);
        return;
      }
      case 'ask_closed': {
        const words = closedWords(event, this.asked.get(event.ask));
        this.screen.line(this.paint('cyan', `  ${words}`) + this.time());
        return;
      }
      case 'retract':
        return;
      case 'status':
        this.status(event);
        return;
      case 'closed':
        this.closed(event, at);
        return;
    }
  }

  private say(event: SayEvent, shown: Final): void {
    const { paint, screen } = this;
    switch (event.say) {
      case 'task':
      case 'user_feedback':
        this.quoted(event.text);
        return;
      case 'text':
      case 'reasoning':
        this.finalText(event, shown);
        return;
      case 'api_req_started': {
        const again = event.attempt > 1 ? `, try ${event.attempt}` : '';
        screen.line(paint('dim', `turn ${event.number}${again}`) + this.time());
        return;
      }
      case 'api_req_finished':
        if (['tool_use', 'end_turn'].includes(event.stop)) return;
        screen.line(paint('yellow', `  (the answer ended early: ${neutralLine(event.stop)})`));
        return;
      case 'error_retry': {
        const when = `try ${event.tries} of ${event.maxTries} in ${duration(event.delayMs)}`;
        screen.line(paint('yellow', `  provider: ${neutralLine(event.message)}; ${when}`) + this.time());
        return;
      }
      case 'error':
        screen.line(paint('red', `error: ${neutralise(event.text)}`) + this.time());
        return;
      case 'info':
        screen.line(paint('dim', `  ${neutralise(event.text)}`));
        return;
      case 'tool':
        this.summaries.set(event.call, event.summary);
        return;
      case 'command':
        this.fitted('bold', `$ ${commandOf(event)}`);
        return;
      case 'tool_result':
        this.toolResult(event);
        return;
      case 'command_output':
        this.commandResult(event);
        return;
      case 'completion_result':
        this.result(event.text);
        return;
    }
  }

  private quoted(text: string): void {
    const lines = neutralise(text).trimEnd().split('\n');
    for (const [i, line] of lines.slice(0, PROMPT_LINES).entries())
      this.screen.line(this.paint('cyan', `> ${line}`) + (i === 0 ? this.time() : ''));
    if (lines.length > PROMPT_LINES)
      this.screen.line(this.paint('dim', `> … ${count(lines.length - PROMPT_LINES, 'more line')}`));
  }

  private finalText(event: Extract<SayEvent, { say: 'text' | 'reasoning' }>, shown: Final): void {
    const stream = callKey(event.turn, event.block);
    const again = shown.rest === undefined && (shown.shown ?? 0) > 0;
    if (again) {
      this.neutral.delete(stream);
      this.screen.line(this.paint('dim', '  (shown again, as it was stored:)'));
    }
    const text = this.clean(stream, shown.rest ?? event.text) + (this.neutral.get(stream)?.flush() ?? '');
    this.neutral.delete(stream);
    this.append(stream, event.say, text);
    this.screen.endPiece(stream);
  }

  private toolResult(event: CallEnd): void {
    const summary = this.summaries.get(event.call) ?? event.tool;
    this.summaries.delete(event.call);
    const more = event.status === 'done' ? duration(event.ms) : neutralLine(event.text);
    this.fitted(styleOf(event.status), `  ${mark(event.status)} ${neutralLine(summary)}  ${more}`);
  }

  private commandResult(event: CallEnd): void {
    const stream = outputStream(event.call);
    this.commands.piece(stream, this.neutral.get(stream)?.flush() ?? '');
    this.neutral.delete(stream);
    const { statement, output } = splitResult(neutralise(event.text));
    this.commands.finish(stream, output);
    // a command that ran is "done", whatever its exit code; the statement tells
    const sign = event.status === 'done' ? '→' : mark(event.status);
    const style = event.status === 'done' ? 'dim' : styleOf(event.status);
    this.fitted(style, `  ${sign} ${neutralLine(statement)}  ${duration(event.ms)}`);
  }

  private status(event: StatusEvent): void {
    const reason = event.reason ? `: ${neutralLine(event.reason)}` : '';
    switch (event.status) {
      case 'parked': {
        const until = event.until === undefined ? '' : ` until ${dateTime(event.until)}`;
        this.screen.line(this.paint('yellow', `parked${until}${reason}`) + this.time());
        return;
      }
      case 'aborting':
      case 'no_worker':
        this.screen.line(this.paint('yellow', `${event.status.replace('_', ' ')}${reason}`) + this.time());
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
    this.screen.line(neutralise(text).trimEnd());
    this.screen.line();
  }

  private closed({ outcome, totals }: ClosedEvent, at: number): void {
    const time = this.startedAt === undefined ? [] : [duration(at - this.startedAt)];
    const sums = [count(totals.turns, 'turn'), tokens(totals.usage), money(totals.cost), ...time].join(' · ');
    this.screen.line(
      `${this.paint(outcome.outcome === 'completed' ? 'green' : 'red', outcomeWords(outcome))} · ${sums}${this.time()}`,
    );
  }

  private clean(stream: string, piece: string): string {
    const neutral = this.neutral.get(stream) ?? new Neutraliser();
    this.neutral.set(stream, neutral);
    return neutral.push(piece);
  }

  /** One line, cut to the screen. */
  private fitted(style: Style, text: string): void {
    const time = this.stamp();
    const cut = fitTo(text, columns(this.io) - displayWidth(time));
    this.screen.line(this.paint(style, cut) + this.paint('dim', time));
  }

  private time(): string {
    return this.paint('dim', this.stamp());
  }

  /** When the event being shown happened, with the date where that is not the one of the stamp before. */
  private stamp(): string {
    if (!this.options.times) return '';
    const [day = ''] = dateTime(this.at).split(' ');
    const known = day === this.day;
    this.day = day;
    return `  ${known ? clock(this.at) : dateTime(this.at)}`;
  }
}
