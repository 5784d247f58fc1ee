import type { SayEvent } from '../domain/events.js';
import type { Journal } from '../journal/journal.js';
import { outputStream } from '../journal/streams.js';
import { type CommandOutput, splitResult } from './command-output.js';
import { changeStat, diffLines } from './diff-lines.js';
import type { Io, Paint } from './io.js';
import type { Lines } from './lines.js';
import { neutralise, neutralLine } from './neutral.js';
import type { Screen } from './screen.js';
import { duration } from './text.js';
import { mark, styleOf } from './words.js';

export type CallEnd = Extract<SayEvent, { say: 'tool_result' | 'command_output' }>;

/** Lines of the diff of an edit that has been made. */
const DIFF_LINES = 40;

/** Shows how tool calls end. */
export class CallResults {
  private readonly summaries = new Map<string, string>();
  /** Calls whose diff a person has seen with the ask. */
  private readonly seen = new Set<string>();

  constructor(
    private readonly io: Io,
    private readonly journal: Pick<Journal, 'getText'>,
    private readonly screen: Screen,
    private readonly paint: Paint,
    private readonly commands: CommandOutput,
    private readonly lines: Lines,
    private readonly full: boolean,
  ) {}

  begun(call: string, summary: string): void {
    this.summaries.set(call, summary);
  }

  asked(call: string): void {
    this.seen.add(call);
  }

  async tool(event: CallEnd, task: string): Promise<void> {
    const summary = neutralLine(this.summaries.get(event.call) ?? event.tool);
    this.summaries.delete(event.call);
    const { status, change } = event;
    const more =
      status !== 'done' ? [neutralLine(event.text)] : [...(change ? [changeStat(change)] : []), duration(event.ms)];
    this.lines.fitted(styleOf(status), `  ${mark(status)} ${[summary, ...more].join('  ')}`);
    const seen = this.seen.delete(event.call);
    if (!change || (!this.full && (seen || !this.io.stdout.isTTY))) return;
    const diff = neutralise(await this.journal.getText(change.diff)).trimEnd();
    const max = this.full ? Number.POSITIVE_INFINITY : DIFF_LINES;
    // the line above names the file
    const lines = diffLines(diff, this.paint, max, `${this.io.command} log ${task} --full`).slice(2);
    for (const line of lines) this.screen.line(`    ${line}`);
  }

  command(event: CallEnd): void {
    const { statement, output } = splitResult(neutralise(event.text));
    this.commands.finish(outputStream(event.call), output);
    // a command that ran is "done", whatever its exit code; the statement tells
    const sign = event.status === 'done' ? '→' : mark(event.status);
    const style = event.status === 'done' ? 'dim' : styleOf(event.status);
    this.lines.fitted(style, `  ${sign} ${neutralLine(statement)}  ${duration(event.ms)}`);
  }
}
