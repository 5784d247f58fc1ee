import { Flow, type Prose } from './flow.js';
import { columns, type Io, painter } from './io.js';
import { Markdown } from './markdown.js';

/** For the model's text: Markdown where there are colours, wrapped at a terminal, as it is elsewhere. */
export function markdownProse(io: Io): Prose {
  return io.colour ? new Markdown(painter(true), () => columns(io)) : plainProse(io);
}

/** For text that is no Markdown. @param prefix stands before each line */
export function plainProse(io: Io, prefix = '', style: (part: string) => string = (part) => part): Prose {
  return io.stdout.isTTY ? new Wrapped(() => columns(io), prefix, style) : new Unchanged(prefix, style);
}

/** A whole text, rendered; ends without a line end. */
export function rendered(prose: Prose, text: string): string {
  return (prose.push(text.trimEnd()) + prose.end()).trimEnd();
}

class Wrapped implements Prose {
  private readonly flow: Flow;
  private started = false;

  constructor(
    width: () => number,
    prefix: string,
    private readonly style: (part: string) => string,
  ) {
    this.flow = new Flow(width);
    this.flow.open(prefix && style(prefix), prefix && style(prefix));
  }

  push(text: string): string {
    let out = '';
    for (const [i, part] of text.split('\n').entries()) {
      if (i > 0) out += this.flow.endLine();
      if (part !== '') out += this.flow.add({ text: part, style: this.style });
      this.started = part !== '' || (i === 0 && this.started);
    }
    return out;
  }

  end(): string {
    return this.started ? this.flow.endLine() : '';
  }

  interrupted(): void {
    this.flow.interrupted();
  }
}

class Unchanged implements Prose {
  private lineStart = true;

  constructor(
    private readonly prefix: string,
    private readonly style: (part: string) => string,
  ) {}

  push(text: string): string {
    let out = '';
    for (const [i, part] of text.split('\n').entries()) {
      if (i > 0) {
        out += '\n';
        this.lineStart = true;
      }
      if (part === '') continue;
      out += this.style(this.lineStart ? this.prefix + part : part);
      this.lineStart = false;
    }
    return out;
  }

  end(): string {
    return '';
  }

  interrupted(): void {
    this.lineStart = true;
  }
}
