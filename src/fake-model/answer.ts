/** An event of the stream, before it is written. */
export type StreamEvent = Record<string, unknown> & { type: string };

export interface AnswerBlock {
  type: string;
  [field: string]: unknown;
}

/** An answer as far as its events tell: what has been sent, or the body of an answer that is not streamed. */
export class Answer {
  readonly content: AnswerBlock[] = [];
  private message: Record<string, unknown> = {};
  private readonly json = new Map<number, string>();

  apply(event: StreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.message = { ...(event.message as object) };
        break;
      case 'content_block_start':
        this.content[event.index as number] = { ...(event.content_block as AnswerBlock) };
        break;
      case 'content_block_delta':
        this.extend(event.index as number, event.delta as Record<string, unknown>);
        break;
      case 'content_block_stop':
        this.closeBlock(event.index as number);
        break;
      case 'message_delta':
        Object.assign(this.message, event.delta, {
          usage: { ...(this.message.usage as object), ...(event.usage as object) },
        });
        break;
      default:
    }
  }

  /** The body of a non-streaming answer. */
  body(): Record<string, unknown> {
    return { ...this.message, content: this.content };
  }

  private extend(index: number, delta: Record<string, unknown>): void {
    const block = this.content[index];
    if (block === undefined) return;
    for (const field of ['text', 'thinking', 'signature']) {
      if (typeof delta[field] === 'string') block[field] = `${block[field] ?? ''}${delta[field]}`;
    }
    if (typeof delta.partial_json === 'string') {
      this.json.set(index, `${this.json.get(index) ?? ''}${delta.partial_json}`);
    }
  }

  private closeBlock(index: number): void {
    const json = this.json.get(index);
    const block = this.content[index];
    if (block === undefined || !json) return;
    try {
      block.input = JSON.parse(json);
    } catch {
      block.input = {};
    }
  }
}
