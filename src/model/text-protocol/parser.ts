import type { CallProblem } from '../../domain/blocks.js';
import type { ReaderOutput } from '../answer-reader.js';
import { GatheredText } from '../gathered-text.js';
import { CallReader, type Tag } from './call-reader.js';
import type { TextGrammar } from './grammar.js';

const NOTHING: readonly ReaderOutput[] = [];
const LESS_THAN = 60;
const GREATER_THAN = 62;
const SLASH = 47;

/** A call that was cut. */
const CUT: CallProblem = { kind: 'truncated', message: 'The answer ended before the call was complete.' };

/**
 * Reads the text of an answer in pieces: what is text, and what are calls (docs/text-protocol.md). However the text was
 * cut, the blocks are the same, and they hold all of it: each call's `raw` begins with the white space before it.
 */
export class TextProtocolParser {
  private readonly names: ReadonlySet<string>;
  private readonly longest: number;
  /** The end of what was fed, where a tag may have begun. */
  private carry = '';
  /** White space that belongs to no block yet. */
  private blank = '';
  private text: { block: number; text: GatheredText } | undefined;
  private call: CallReader | undefined;
  private out: ReaderOutput[] | undefined;

  /** @param next gives a block its number when it begins */
  constructor(
    private readonly grammar: TextGrammar,
    private readonly next: () => number,
  ) {
    this.names = new Set([...grammar].flatMap(([name, { parameters }]) => [name, ...parameters.keys()]));
    this.longest = [...this.names].reduce((most, { length }) => Math.max(most, length), 0);
  }

  push(piece: string): readonly ReaderOutput[] {
    const source = this.carry === '' ? piece : this.carry + piece;
    let from = 0;
    let at = source.indexOf('<');
    while (at >= 0) {
      const end = this.endOfTag(source, at);
      if (end === source.length + 1) break;
      if (end > 0) {
        const isClosing = source.charCodeAt(at + 1) === SLASH;
        const name = source.slice(at + (isClosing ? 2 : 1), end - 1);
        if (this.names.has(name)) {
          if (at > from) this.takeText(source.slice(from, at));
          this.takeTag({ close: isClosing, name }, source.slice(at, end));
          from = end;
        }
      }
      at = source.indexOf('<', Math.max(end, at + 1));
    }
    const rest = at < 0 ? source.length : at;
    if (rest > from) this.takeText(from === 0 && rest === source.length ? source : source.slice(from, rest));
    this.carry = rest === source.length ? '' : source.slice(rest);
    return this.taken();
  }

  /**
   * Nothing more comes.
   * @param whole the model has ended here by itself: a call that only what follows could have shown to go on is complete
   */
  end(whole: boolean): readonly ReaderOutput[] {
    // the beginning of a tag is none, but where the answer was cut it might have become one
    const isText = whole || this.call?.stray === true;
    if (this.carry !== '') this.takeText(this.carry);
    this.carry = '';
    const { call } = this;
    this.call = undefined;
    if (call?.isBare && isText) this.takeText(call.raw);
    else if (call) {
      this.establish(call);
      if (whole) this.endCall(call, call.finish());
      else this.putCall(call, call.raw, CUT);
    }
    this.endText();
    return this.taken();
  }

  /** The text block that is arriving. */
  get unfinished(): { block: number; text: string } | undefined {
    return this.text && { block: this.text.block, text: this.text.text.toString() };
  }

  private taken(): readonly ReaderOutput[] {
    const out = this.out ?? NOTHING;
    this.out = undefined;
    return out;
  }

  private put(output: ReaderOutput): void {
    if (this.out) this.out.push(output);
    else this.out = [output];
  }

  /**
   * @returns where a tag that begins at `at` ends; 0 when it is none; one more than there is when that is not known yet.
   * Looks at no more characters than the longest name has.
   */
  private endOfTag(source: string, at: number): number {
    const start = source.charCodeAt(at + 1) === SLASH ? at + 2 : at + 1;
    const most = Math.min(source.length, start + this.longest + 1);
    for (let end = start; end < most; end++) {
      const code = source.charCodeAt(end);
      if (code === GREATER_THAN) return end > start ? end + 1 : 0;
      if (!isNameCode(code)) return 0;
    }
    return most === source.length ? most + 1 : 0;
  }

  private takeText(piece: string): void {
    if (this.call) this.call.text(piece);
    else if (this.text) {
      const { block, text } = this.text;
      this.put({ kind: 'delta', block, of: 'text', offset: text.length, text: piece });
      text.add(piece);
    } else {
      if (!/\S/.test(piece)) {
        this.blank += piece;
        return;
      }
      const text = this.blank + piece;
      const block = this.next();
      this.blank = '';
      this.text = { block, text: new GatheredText(text) };
      this.put({ kind: 'begin', block, of: 'text' });
      this.put({ kind: 'delta', block, of: 'text', offset: 0, text });
    }
  }

  private takeTag(tag: Tag, source: string): void {
    const { call } = this;
    if (!call) {
      if (tag.close || !this.grammar.has(tag.name)) this.takeText(source);
      else this.beginCall(tag.name, source);
      return;
    }
    switch (call.tag(tag, source)) {
      case 'more':
        if (!call.isBare) this.establish(call);
        return;
      case 'complete':
        this.establish(call);
        this.endCall(call, undefined);
        return;
      case 'text':
        this.call = undefined;
        this.takeText(call.raw);
        this.takeTag(tag, source);
        return;
      case 'next':
        this.beginNext(call, tag, source);
        return;
    }
  }

  private beginCall(name: string, source: string): void {
    this.call = new CallReader(this.grammar, this.grammar.get(name)!, this.blank, source);
    this.blank = '';
  }

  /** The call is over where the next one has begun: with the tag that was waiting for this one. */
  private beginNext(call: CallReader, tag: Tag, source: string): void {
    const at = call.waitingAt;
    const opening = call.raw.slice(at);
    const before = call.raw.slice(0, at);
    this.call = undefined;
    if (call.end === undefined) {
      this.putCall(call, before, { kind: 'bad_arguments', message: `Its closing tag </${call.name}> is missing.` });
    } else {
      this.putCall(call, before.slice(0, call.end));
      this.takeText(before.slice(call.end));
    }
    const [name = ''] = /[\w-]+/.exec(opening) ?? [];
    this.beginCall(name, opening);
    this.takeTag(tag, source);
  }

  /** It is certain that this is a call: so the text before it has ended. */
  private establish(call: CallReader): void {
    if (call.block !== undefined) return;
    this.endText();
    call.block = this.next();
    this.put({ kind: 'begin', block: call.block, of: 'tool_use' });
  }

  private endCall(call: CallReader, problem: CallProblem | undefined): void {
    this.call = undefined;
    const { raw, end = raw.length } = call;
    this.putCall(call, raw.slice(0, end), problem);
    if (end < raw.length) this.takeText(raw.slice(end));
  }

  private putCall(call: CallReader, raw: string, problem?: CallProblem): void {
    const { name, block = -1 } = call;
    const content = problem
      ? ({ type: 'tool_use', name, input: {}, block, raw, problem } as const)
      : ({ type: 'tool_use', name, input: call.input(), block, raw } as const);
    this.put({ kind: 'block', block, content });
  }

  private endText(): void {
    if (!this.text) return;
    const { block, text } = this.text;
    this.text = undefined;
    this.put({ kind: 'block', block, content: { type: 'text', text: text.toString() } });
  }
}

/** Letters, digits, `_` and `-`: what names of tools and parameters are made of. */
function isNameCode(code: number): boolean {
  if (code === LESS_THAN) return false;
  return (
    (code >= 97 && code <= 122) ||
    code === 95 ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 45
  );
}
