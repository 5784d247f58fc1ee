/** Tags that models put around their thoughts and calls; what is between them stays. */
const TAGS = ['thinking', 'think', 'function_calls'].flatMap((name) => [`<${name}>`, `</${name}>`]);

/**
 * Characters of a line that tell whether a code fence begins or ends with it. As many are held back where one may be about
 * to open at the very end, the white space behind it included.
 */
const MAX_HELD = 64;

const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)/;
/** What may become a fence, or be one whose line has not ended. */
const BEGINNING = /^ {0,3}(?:`{0,2}|~{0,2}|(?:`{3}|~{3})[^\n]*)$/;
/** A fence with nothing but the name of a language, and nothing behind it. */
const BARE_FENCE = /^ {0,3}(?:`{3,}|~{3,})[\w+#.-]*[ \t\r]*(?:\n\s*)?$/;

/**
 * What people see of a text of the model: without the tags around thoughts and calls, and without a code fence that
 * opens at its very end, where a call followed. The conversation keeps the text as it is. However the text is cut, the
 * pieces shown join to a beginning of what is shown in the end.
 */
export class ShownText {
  private readonly tags = new TagFilter();
  private readonly fences = new FenceFilter();
  /** UTF-16 units shown so far. */
  length = 0;

  /** @returns what is to be shown now, and where it stands; it may be empty */
  push(text: string): { offset: number; text: string } {
    return this.shown(this.fences.push(this.tags.push(text)));
  }

  /** @returns the rest */
  end(): string {
    return this.shown(this.fences.push(this.tags.end()) + this.fences.end()).text;
  }

  private shown(text: string): { offset: number; text: string } {
    const offset = this.length;
    this.length += text.length;
    return { offset, text };
  }
}

/** The whole of what is shown of a finished text. */
export function shownText(text: string): string {
  const shown = new ShownText();
  return shown.push(text).text + shown.end();
}

class TagFilter {
  private held = '';

  push(text: string): string {
    const source = this.held + text;
    let out = '';
    let from = 0;
    for (let at = source.indexOf('<'); at >= 0; at = source.indexOf('<', at)) {
      const tag = TAGS.find((one) => source.startsWith(one, at));
      if (tag) {
        out += source.slice(from, at);
        at += tag.length;
        from = at;
      } else if (isBeginning(source, at)) {
        this.held = source.slice(at);
        return out + source.slice(from, at);
      } else at++;
    }
    this.held = '';
    return out + source.slice(from);
  }

  end(): string {
    const { held } = this;
    this.held = '';
    return held;
  }
}

/** What is left of the text may become a tag. */
function isBeginning(source: string, at: number): boolean {
  const rest = source.length - at;
  return TAGS.some((tag) => rest < tag.length && source.endsWith(tag.slice(0, rest)));
}

/** Follows the code fences of a text line by line, and holds back one that has just opened. */
class FenceFilter {
  /** Of the fence that is open. */
  private mark: string | undefined;
  /** From the beginning of a line on, not shown yet. */
  private held = '';
  private isMidLine = false;

  push(text: string): string {
    let rest = this.held + text;
    let out = '';
    this.held = '';
    while (rest !== '') {
      if (this.isMidLine) {
        const end = rest.indexOf('\n') + 1;
        if (end === 0) return out + rest;
        out += rest.slice(0, end);
        rest = rest.slice(end);
        this.isMidLine = false;
        continue;
      }
      if (rest.length <= MAX_HELD && (BEGINNING.test(rest) || this.isDangling(rest))) {
        this.held = rest;
        return out;
      }
      this.read(rest.slice(0, MAX_HELD));
      this.isMidLine = true;
    }
    return out;
  }

  /** The end of the text: a fence that has just opened is left out. */
  end(): string {
    const { held } = this;
    this.held = '';
    return this.isDangling(held) ? '' : held;
  }

  private isDangling(line: string): boolean {
    return this.mark === undefined && BARE_FENCE.test(line);
  }

  /** A line begins here, as far as it matters: does it open or close a fence? */
  private read(line: string): void {
    const [, mark, info = ''] = FENCE.exec(line) ?? [];
    if (mark === undefined) return;
    if (this.mark === undefined) {
      if (mark[0] === '~' || !info.includes('`')) this.mark = mark;
    } else if (mark[0] === this.mark[0] && mark.length >= this.mark.length && info.trim() === '') {
      this.mark = undefined;
    }
  }
}
