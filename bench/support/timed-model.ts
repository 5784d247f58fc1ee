import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A model that answers as told and notes when it wrote what; times are ms since the epoch, with fractions. */
export interface TimedModel {
  url: string;
  close(): Promise<void>;
}

/** What it writes of one answer. */
export class TimedAnswer {
  private index = 0;

  constructor(private readonly res: ServerResponse) {
    this.send({ type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 10, output_tokens: 1 } } });
  }

  /** @returns when the last byte of the call had been written */
  call(name: string, input: object): number {
    const { index } = this;
    this.index++;
    const block = { type: 'tool_use', id: `toolu_${Math.random().toString(36).slice(2)}`, name, input: {} };
    this.send({ type: 'content_block_start', index, content_block: block });
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
    this.send({ type: 'content_block_delta', index, delta });
    return this.send({ type: 'content_block_stop', index });
  }

  beginText(): void {
    this.send({ type: 'content_block_start', index: this.index, content_block: { type: 'text', text: '' } });
  }

  /** @returns when it had been written */
  text(text: string): number {
    return this.send({ type: 'content_block_delta', index: this.index, delta: { type: 'text_delta', text } });
  }

  endText(): void {
    this.send({ type: 'content_block_stop', index: this.index++ });
  }

  end(stop: 'tool_use' | 'end_turn'): void {
    this.send({ type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 20 } });
    this.send({ type: 'message_stop' });
    this.res.end();
  }

  private send(event: { type: string; [field: string]: unknown }): number {
    this.res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    return now();
  }
}

/** Speaks no more of the Messages API than one answer after the other. @param play writes the answer to the n-th request, from 0 */
export async function startTimedModel(play: (answer: TimedAnswer, n: number) => Promise<void>): Promise<TimedModel> {
  let requests = 0;
  const server = createServer((req, res) => {
    req.resume();
    req.once('end', () => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      void play(new TimedAnswer(res), requests++);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}

export function now(): number {
  return performance.timeOrigin + performance.now();
}
