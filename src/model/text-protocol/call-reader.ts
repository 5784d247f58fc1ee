import type { CallProblem } from '../../domain/blocks.js';
import { GatheredText } from '../gathered-text.js';
import { isOpenEnded, readValue, type TextGrammar, type TextTool, type ValueKind } from './grammar.js';

/** A tag with the name of a tool or of a parameter. */
export interface Tag {
  close: boolean;
  name: string;
}

/** A parameter of a call: where its value begins and ends in `raw`. */
interface Given {
  name: string;
  kind: ValueKind;
  start: number;
  end: number;
}

/** What a tag means depends on the next one, when only white space is between them. */
interface Waiting extends Tag {
  /** Where it begins in `raw`. */
  at: number;
}

/**
 * What a tag has brought: `more` is to come; the call is `complete`; the waiting tag and this one begin the `next` call;
 * this one begins a call, and what seemed to be one before it was `text`.
 */
export type TagResult = 'more' | 'complete' | 'next' | 'text';

/**
 * Reads one call from its opening tag on; the rules are in docs/text-protocol.md. Every tag is looked at once, so the
 * work is linear in the length of what is read.
 */
export class CallReader {
  /** Position of the block in the answer; set once it is certain that this is a call. */
  block: number | undefined;
  /** Where the call ends in `raw`, as far as it is known. */
  end: number | undefined;
  /** Something else than white space or a parameter has followed the opening tag. */
  stray = false;
  private readonly read: GatheredText;
  private readonly given: Given[] = [];
  private open: Given | undefined;
  /** Calls of the same tool that have begun inside the value and not ended. */
  private depth = 0;
  private waiting: Waiting | undefined;
  /** The last place where an open-ended value could have ended together with the call, though it seemed not to. */
  private lastEnd: { parameter: string; at: number; end: number } | undefined;
  /** A call has begun behind such a place, so that it is not clear which one belongs to which. */
  private unclear = false;

  constructor(
    private readonly grammar: TextGrammar,
    private readonly tool: TextTool,
    before: string,
    tag: string,
  ) {
    this.read = new GatheredText(before + tag);
  }

  /** Everything read, from the white space before the opening tag on. */
  get raw(): string {
    return this.read.toString();
  }

  get name(): string {
    return this.tool.name;
  }

  /** Nothing but its opening tag has been seen: it may be a word about the tool. */
  get isBare(): boolean {
    return this.given.length === 0 && this.end === undefined;
  }

  /** Where the tag begins that waits for the next one. */
  get waitingAt(): number {
    return this.waiting?.at ?? this.read.length;
  }

  text(piece: string): void {
    if ((this.waiting || this.isBare) && /\S/.test(piece)) {
      this.waiting = undefined;
      if (this.isBare) this.stray = true;
    }
    this.read.add(piece);
  }

  /** @param source the tag as written; it is part of `raw` then, unless it belongs to the next call */
  tag(tag: Tag, source: string): TagResult {
    const { waiting } = this;
    const at = this.read.length;
    if (waiting && !waiting.close && this.begins(waiting.name, tag) && !this.open && !this.isBare) return 'next';
    if (this.isBare && !tag.close && this.grammar.has(tag.name)) return 'text';
    this.read.add(source);
    this.waiting = undefined;
    if (this.open) return this.inValue(this.open, waiting, tag, at);
    if (waiting?.close && this.goesOn(waiting, tag)) return 'more';
    if (this.end === undefined) {
      if (!tag.close && this.tool.parameters.has(tag.name)) return this.begin(tag.name);
      if (tag.close && tag.name === this.tool.name) return this.close();
    }
    if (tag.close ? this.openEnded(tag.name) : this.grammar.has(tag.name)) this.waiting = { ...tag, at };
    return 'more';
  }

  /** The answer has ended, as it should: with the call, if there is one way to read it. @returns what is wrong */
  finish(): CallProblem | undefined {
    if (this.end !== undefined) return undefined;
    const { lastEnd } = this;
    if (lastEnd && !this.unclear) {
      this.extend(lastEnd.parameter, lastEnd.at);
      this.end = lastEnd.end;
      return undefined;
    }
    const message = lastEnd
      ? `It is not clear where the value of ${lastEnd.parameter} ends, since it holds tags of ${this.name} that do not come in pairs. Make the call again as the only one of the answer.`
      : this.open
        ? `The parameter ${this.open.name} has no end: its closing tag has to be followed by </${this.name}> or by another parameter.`
        : `Its closing tag </${this.name}> is missing.`;
    return { kind: 'bad_arguments', message };
  }

  /** The values of a call that has ended. */
  input(): Record<string, string> {
    const { raw } = this;
    return Object.fromEntries(
      this.given.map(({ name, kind, start, end }) => [name, readValue(kind, raw.slice(start, end))]),
    );
  }

  private inValue(open: Given, waiting: Waiting | undefined, tag: Tag, at: number): TagResult {
    if (open.kind === 'short' && tag.close && tag.name === open.name) {
      this.endValue(open, at);
      return 'more';
    }
    const ends = tag.close && tag.name === this.tool.name;
    if (waiting?.close && ends) {
      if (this.depth > 0) this.depth--;
      else if (waiting.name === open.name) {
        this.endValue(open, waiting.at);
        return this.close();
      }
      if (this.openEnded(waiting.name)) this.noteEnd(waiting);
      return 'more';
    }
    if (waiting?.close && waiting.name === open.name && this.depth === 0 && this.isNew(tag)) {
      this.endValue(open, waiting.at);
      return this.begin(tag.name);
    }
    if (waiting && !waiting.close && this.begins(waiting.name, tag)) {
      if (this.lastEnd) this.unclear = true;
      if (waiting.name === this.tool.name && !tag.close && isOpenEnded(open.kind)) this.depth++;
      return 'more';
    }
    if (tag.close ? this.tool.parameters.has(tag.name) : this.grammar.has(tag.name)) this.waiting = { ...tag, at };
    return 'more';
  }

  /**
   * A value seemed to have ended, but here is its closing tag again, where it would end: so the one before was part of
   * it, and with it the parameters that seemed to follow.
   */
  private goesOn(waiting: Waiting, tag: Tag): boolean {
    const upTo = this.given.findIndex(({ name }) => name === waiting.name);
    if (tag.close && tag.name === this.tool.name) {
      this.extend(waiting.name, waiting.at);
      this.end = this.read.length;
      return true;
    }
    const isNew =
      !tag.close && this.tool.parameters.has(tag.name) && this.given.findIndex(({ name }) => name === tag.name) > upTo;
    const isFirst = this.isNew(tag);
    if (!isNew && !isFirst) return false;
    this.extend(waiting.name, waiting.at);
    this.end = undefined;
    this.begin(tag.name);
    return true;
  }

  private extend(parameter: string, end: number): void {
    const at = this.given.findIndex(({ name }) => name === parameter);
    this.given[at]!.end = end;
    this.given.length = at + 1;
    this.open = undefined;
  }

  private begin(name: string): TagResult {
    const before = this.given.findIndex((one) => this.ours(one.name) === this.ours(name));
    if (before >= 0) this.given.splice(before, 1);
    this.open = { name, kind: this.tool.parameters.get(name)!, start: this.read.length, end: -1 };
    this.given.push(this.open);
    this.depth = 0;
    return 'more';
  }

  private endValue(open: Given, at: number): void {
    open.end = at;
    this.open = undefined;
  }

  private close(): TagResult {
    this.end = this.read.length;
    return this.given.some(({ kind }) => isOpenEnded(kind)) ? 'more' : 'complete';
  }

  private noteEnd({ name, at }: Waiting): void {
    this.lastEnd = { parameter: name, at, end: this.read.length };
  }

  /** A parameter that is given, and whose value may go on. */
  private openEnded(parameter: string): boolean {
    return this.given.some(({ name, kind }) => name === parameter && isOpenEnded(kind));
  }

  /** The tag of a parameter that is not given yet. */
  private isNew(tag: Tag): boolean {
    return !tag.close && this.tool.parameters.has(tag.name) && !this.isGiven(tag.name);
  }

  /** Under whatever name. */
  private isGiven(parameter: string): boolean {
    return this.given.some(({ name }) => this.ours(name) === this.ours(parameter));
  }

  private ours(parameter: string): string {
    return this.tool.aliases.get(parameter) ?? parameter;
  }

  /** Whether the opening tag of `tool` and this one are the beginning of a call. */
  private begins(tool: string, tag: Tag): boolean {
    return tag.close ? tag.name === tool : this.grammar.get(tool)?.parameters.has(tag.name) === true;
  }
}
