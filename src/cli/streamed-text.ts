import type { Partial, SayEvent, StoredEvent } from '../domain/events.js';
import { callKey } from '../domain/ids.js';
import type { Shown } from '../journal/rebuild.js';
import type { CommandOutput } from './command-output.js';
import type { Prose } from './flow.js';
import type { Io, Paint } from './io.js';
import { Neutraliser } from './neutral.js';
import { markdownProse, plainProse } from './prose.js';
import type { Screen } from './screen.js';

type Final = Extract<Shown, { final: StoredEvent }>;
type TextEvent = Extract<SayEvent, { say: 'text' | 'reasoning' }>;

/** Shows what arrives in pieces: the model's text and reasoning, and the output of commands. Nothing of it is trusted. */
export class StreamedText {
  private readonly neutral = new Map<string, Neutraliser>();
  private readonly prose = new Map<string, Prose>();

  constructor(
    private readonly io: Io,
    private readonly screen: Screen,
    private readonly paint: Paint,
    private readonly commands: CommandOutput,
  ) {}

  append(stream: string, kind: Partial['kind'], piece: string): void {
    if (kind === 'tool_input') return;
    const neutral = this.neutral.get(stream) ?? new Neutraliser();
    this.neutral.set(stream, neutral);
    this.show(stream, kind, neutral.push(piece));
  }

  /** The final word on a text. */
  finish(event: TextEvent, { rest, shown = 0 }: Final): void {
    const stream = callKey(event.turn, event.block);
    if (rest === undefined && shown > 0) {
      this.drop(stream);
      this.screen.line(this.paint('dim', '  (shown again, as it was stored:)'));
    }
    this.append(stream, event.say, rest ?? event.text);
    this.show(stream, event.say, this.neutral.get(stream)?.flush() ?? '');
    this.screen.piece(stream, this.proseOf(stream, event.say).end());
    this.screen.endPiece(stream);
    this.drop(stream);
  }

  /** What was held back of a command's output. */
  finishOutput(stream: string): void {
    this.commands.piece(stream, this.neutral.get(stream)?.flush() ?? '');
    this.drop(stream);
  }

  /** Nothing more is shown of it. */
  drop(stream: string): void {
    this.neutral.delete(stream);
    this.prose.delete(stream);
  }

  private show(stream: string, kind: 'text' | 'reasoning' | 'command_output', text: string): void {
    if (kind === 'command_output') {
      this.commands.piece(stream, text);
      return;
    }
    const prose = this.proseOf(stream, kind);
    if (!this.screen.isMidLine(stream)) prose.interrupted();
    this.screen.piece(stream, prose.push(text));
  }

  private proseOf(stream: string, kind: 'text' | 'reasoning'): Prose {
    const known = this.prose.get(stream);
    if (known) return known;
    const dim = (part: string) => this.paint('dim', part);
    const prose = kind === 'text' ? markdownProse(this.io) : plainProse(this.io, '~ ', dim);
    this.prose.set(stream, prose);
    return prose;
  }
}
