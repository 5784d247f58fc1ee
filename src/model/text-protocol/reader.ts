import type { AnswerBlock } from '../../domain/blocks.js';
import type { Usage } from '../../domain/usage.js';
import { AnswerReader, type AnswerSource, type RawEvent, type ReaderOutput } from '../answer-reader.js';
import { type TextGrammar, writeCall } from './grammar.js';
import { TextProtocolParser } from './parser.js';

/** The model has ended its answer by itself; with any other reason what it was writing may go on. */
const WHOLE: ReadonlySet<string> = new Set(['end_turn', 'tool_use', 'stop_sequence']);

/**
 * Reads an answer whose calls are tags in its text. What ends with a text block is known with the stop reason only, or
 * when another block begins. A call that comes in the API's own form counts too, as if it had been written.
 */
export class TextProtocolReader implements AnswerSource {
  /** The parser keeps the text. */
  private readonly inner = new AnswerReader(false);
  private count = 0;
  /** Numbers of the provider's blocks that are not text → ours. */
  private readonly numbers = new Map<number, number>();
  private text: { block: number; parser: TextProtocolParser; isWhole: boolean } | undefined;

  constructor(private readonly grammar: TextGrammar) {}

  get usage(): Usage {
    return this.inner.usage;
  }
  get usageComplete(): boolean {
    return this.inner.usageComplete;
  }
  get requestId(): string | undefined {
    return this.inner.requestId;
  }
  get received(): number {
    return this.inner.received;
  }

  read(event: RawEvent): readonly ReaderOutput[] {
    const outputs = this.inner.read(event);
    const [only] = outputs;
    if (outputs.length === 1 && only) return this.take(only);
    return outputs.flatMap((output) => this.take(output));
  }

  unfinishedText(): { block: number; text: string }[] {
    const open = this.text?.parser.unfinished;
    return open ? [{ block: open.block, text: open.text.trimEnd() }] : [];
  }

  unfinishedCalls(): { block: number; content: AnswerBlock }[] {
    return this.inner.unfinishedCalls().map(({ block, content }) => this.renumbered(block, content));
  }

  private take(output: ReaderOutput): readonly ReaderOutput[] {
    switch (output.kind) {
      case 'begin':
        return [...this.endText(true), ...this.begin(output)];
      case 'delta':
        if (output.of === 'text') return this.text?.block === output.block ? this.text.parser.push(output.text) : [];
        return [{ ...output, block: this.numberOf(output.block) }];
      case 'block':
        if (output.content.type !== 'text')
          return [{ kind: 'block', ...this.renumbered(output.block, output.content) }];
        if (this.text?.block === output.block) this.text.isWhole = true;
        return [];
      case 'stop':
        return [...this.endText(WHOLE.has(output.reason)), output];
      case 'end':
        return [...this.endText(true), output];
      case 'error':
        return [output];
    }
  }

  private begin({ block, of }: Extract<ReaderOutput, { kind: 'begin' }>): readonly ReaderOutput[] {
    if (of === 'text') {
      this.text = { block, parser: new TextProtocolParser(this.grammar, () => this.count++), isWhole: false };
      return [];
    }
    const number = this.count++;
    this.numbers.set(block, number);
    return [{ kind: 'begin', block: number, of }];
  }

  private endText(whole: boolean): readonly ReaderOutput[] {
    const { text } = this;
    this.text = undefined;
    return text?.parser.end(whole && text.isWhole) ?? [];
  }

  private numberOf(block: number): number {
    return this.numbers.get(block) ?? -1;
  }

  private renumbered(block: number, content: AnswerBlock): { block: number; content: AnswerBlock } {
    const number = this.numberOf(block);
    if (content.type !== 'tool_use') return { block: number, content };
    const raw = writeCall(this.grammar, content.name, content.input);
    return { block: number, content: { ...content, block: number, raw } };
  }
}
