import { Agent, request as httpRequest } from 'node:http';
import type { RecordedRequest } from '../../src/fake-model/index.js';
import { startProgram } from './program.js';
import { check } from './report.js';

/** The scripted model in a process of its own. */
export interface Model {
  url: string;
  pid: number;
  /** Requests that have come so far. */
  count(): Promise<number>;
  /** All of them from the one after `from` on, in order. @throws BenchFailed when one was refused */
  requests(from: number): Promise<RecordedRequest[]>;
  /** Body of the latest request. */
  lastBody(): Promise<unknown>;
  stop(): Promise<void>;
}

export async function startModel(): Promise<Model> {
  const { pid, first, stop } = await startProgram<{ url: string }>(new URL('./model-process.ts', import.meta.url));
  const list = async (query: string) =>
    (await (await fetch(`${first.url}/fake/requests${query}`)).json()) as RecordedRequest[];
  return {
    url: first.url,
    pid,
    count: async () => (await list('')).length,
    requests: async (from) => {
      const requests = (await list('')).slice(from);
      const refused = requests.find(({ verdict }) => verdict.kind === 'refused');
      check(refused === undefined, `The model refused a request: ${JSON.stringify(refused?.verdict)}`);
      return requests;
    },
    lastBody: async () => (await list('?bodies')).at(-1)?.body,
    stop,
  };
}

/**
 * Sends a conversation again, from its first request to its last, with a plain HTTP client.
 * @param body of its last request
 * @returns ms of each request, from its first byte sent to the last one received
 */
export async function replay(model: Model, body: unknown): Promise<number[]> {
  const { messages, ...rest } = body as { messages: unknown[] };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (let length = 1; length <= messages.length; length += 2) {
    const bytes = JSON.stringify({ ...rest, stream: true, messages: messages.slice(0, length) });
    const began = performance.now();
    const status = await post(`${model.url}/v1/messages`, bytes, agent);
    times.push(performance.now() - began);
    check(status === 200, `The model answered a repeated request with ${status}.`);
  }
  agent.destroy();
  return times;
}

function post(url: string, body: string, agent: Agent): Promise<number | undefined> {
  const headers = { 'content-type': 'application/json', 'x-api-key': 'test-key', 'anthropic-version': '2023-06-01' };
  return new Promise((done, failed) => {
    const sent = httpRequest(url, { method: 'POST', headers, agent }, (response) => {
      response.resume();
      response.once('end', () => done(response.statusCode));
    });
    sent.once('error', failed);
    sent.end(body);
  });
}
