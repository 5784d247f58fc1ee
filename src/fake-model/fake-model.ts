import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Answer } from './answer.js';
import { check, type Wanted } from './check.js';
import { type Chunking, DEFAULT_CHUNK } from './deltas.js';
import { checkAccess, checkHeaders, parseJson, Refused, readBody, safeHeaders } from './gate.js';
import { modelList } from './list-models.js';
import { play, stepsOfAttempt } from './play.js';
import { type Prefix, PromptCache, readPrefix } from './prefix.js';
import { type RecordedRequest, Records } from './records.js';
import { type Responder, readTurn, scripted, type TurnRequest } from './responders.js';
import { parseScript, type Script } from './script.js';
import { type Exchange, send, sendError } from './send.js';
import { SentAnswers } from './sent.js';
import { type MessagesRequest, requestShape, shapeProblem } from './shape.js';

export interface FakeModelOptions {
  /** What to answer: a script as text or as built, or a function. Without either, every request is refused. */
  script?: string | Script;
  responder?: Responder;
  /** Default: a free port. */
  port?: number;
  /** The only key that is taken; without it any key is, but one there has to be. */
  apiKey?: string;
  /** The only model ids that exist. */
  models?: readonly string[];
  /** Context window in tokens; default 200,000. */
  window?: number;
  /** Length of deltas; default 20 characters. */
  chunking?: Chunking;
  /** ms between deltas; default 0. */
  paceMs?: number;
  /** The bodies of the latest requests are kept, up to so many bytes as received; default 64 MB. */
  keepBytes?: number;
  /** Called when an exchange has ended. */
  onEnd?: (record: RecordedRequest) => void;
}

export interface FakeModel {
  /** For `ANTHROPIC_BASE_URL`. */
  url: string;
  /** Every request so far, in order of arrival. */
  requests: readonly RecordedRequest[];
  /** Those that broke a rule. */
  refused(): RecordedRequest[];
  /** Waits until it is true of the requests. @throws Error after `ms`, default 10,000 */
  until(check: (requests: readonly RecordedRequest[]) => boolean, ms?: number): Promise<void>;
  /** Ends all connections. */
  close(): Promise<void>;
}

const DEFAULT_WINDOW = 200_000;
const DEFAULT_KEEP = 64 * 1024 * 1024;

/**
 * Starts a server on 127.0.0.1 that speaks the Messages API and refuses what the API would refuse
 * (docs/fake-model.md).
 * @throws LonghaulError `bad-script`
 * @example
 * const model = await startFakeModel({ script: 'say Hello.\nfinish' });
 * const answer = await new Anthropic({ baseURL: model.url, apiKey: 'any' }).messages.create({ ... });
 * await model.close();
 */
export async function startFakeModel(options: FakeModelOptions = {}): Promise<FakeModel> {
  const model = new Model(options);
  const server = createServer((req, res) => void model.handle(req, res));
  // Longer than clients keep a connection, so that none is closed under a request.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: model.records.list,
    refused: () => model.records.list.filter(({ verdict }) => verdict.kind === 'refused'),
    until: (condition, ms = 10_000) => model.records.until(condition, ms),
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      model.closing = true;
      server.closeAllConnections();
      return closed;
    },
  };
}

class Model {
  readonly records: Records;
  closing = false;
  private readonly respond: Responder;
  private readonly cache = new PromptCache();
  private readonly sent = new SentAnswers();
  private readonly strikes = new Map<string, number>();

  constructor(private readonly options: FakeModelOptions) {
    this.records = new Records(options.keepBytes ?? DEFAULT_KEEP, options.onEnd);
    const { script, responder } = options;
    const parsed = typeof script === 'string' ? parseScript(script) : script;
    this.respond = responder ?? (parsed ? scripted(parsed) : () => undefined);
  }

  async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = (req.url ?? '/').split('?')[0] as string;
    if (path === '/fake/requests') {
      this.list(req, res);
      return;
    }
    const record = this.records.add(path, safeHeaders(req));
    const gone = new AbortController();
    const exchange: Exchange = {
      res,
      record,
      records: this.records,
      requestId: `req_fake_${record.number}`,
      signal: gone.signal,
    };
    res.once('close', () => {
      const byServer = res.writableFinished || (record.verdict.kind === 'fault' && record.verdict.fault === 'cut');
      this.records.end(record, byServer || this.closing ? 'server' : 'client');
      gone.abort();
    });
    try {
      await this.answer(req, path, exchange);
    } catch (err) {
      if (err instanceof Refused) refuse(err, exchange);
      else if (!gone.signal.aborted) {
        refuse(
          new Refused(500, 'api_error', ['internal'], `the fake model itself has failed: ${String(err)}`),
          exchange,
        );
      }
    }
  }

  private async answer(req: IncomingMessage, path: string, exchange: Exchange): Promise<void> {
    const { record, res, requestId } = exchange;
    const bytes = await readBody(req);
    record.bytes = bytes.length;
    if (path === '/v1/models') {
      this.listModels(req, exchange);
      return;
    }
    const counting = path === '/v1/messages/count_tokens';
    if (path !== '/v1/messages' && !counting) {
      throw new Refused(404, 'not_found_error', ['shape'], `${path} does not exist`);
    }
    if (req.method !== 'POST') throw new Refused(405, 'invalid_request_error', ['shape'], 'only POST is possible');
    const version = checkHeaders(req, this.options.apiKey);
    const body = parseJson(bytes);
    this.records.keep(record, body);
    const parsed = requestShape.safeParse(body);
    if (!parsed.success) throw new Refused(400, 'invalid_request_error', ['shape'], shapeProblem(parsed.error));
    const request = parsed.data;
    const prefix = readPrefix(request);
    const turnRequest = readTurn(request, prefix.conversation);
    record.conversation = prefix.conversation;
    record.turn = turnRequest.turn;
    this.checkAll(request, prefix, { version, counting });
    if (counting) {
      record.verdict = { kind: 'answered', stop: 'count_tokens' };
      res.writeHead(200, { 'content-type': 'application/json', 'request-id': requestId });
      res.end(JSON.stringify({ input_tokens: prefix.tokens }));
      return;
    }
    await this.play(turnRequest, prefix, exchange);
  }

  /** @throws Refused */
  private listModels(req: IncomingMessage, { record, res, requestId }: Exchange): void {
    if (req.method !== 'GET') throw new Refused(405, 'invalid_request_error', ['shape'], 'only GET is possible');
    checkAccess(req, this.options.apiKey);
    const { searchParams } = new URL(req.url ?? '/', 'http://127.0.0.1');
    const list = modelList(searchParams, this.options.models);
    record.verdict = { kind: 'answered', stop: 'models' };
    res.writeHead(200, { 'content-type': 'application/json', 'request-id': requestId });
    res.end(JSON.stringify(list));
  }

  /** @throws Refused */
  private checkAll(request: MessagesRequest, prefix: Prefix, wanted: Wanted): void {
    const { models, window = DEFAULT_WINDOW } = this.options;
    if (models && !models.includes(request.model)) {
      throw new Refused(404, 'not_found_error', ['model'], `model: ${request.model}`);
    }
    const found = check(request, wanted);
    // A broken request says nothing about what was sent: its positions may be off.
    if (found.length === 0) found.push(...this.sent.check(request, prefix));
    if (found[0]) {
      throw new Refused(400, 'invalid_request_error', [...new Set(found.map(({ rule }) => rule))], found[0].message);
    }
    if (!wanted.counting && prefix.tokens > window) {
      const message = `prompt is too long: ${prefix.tokens} tokens, and the window is ${window}`;
      throw new Refused(400, 'invalid_request_error', ['window'], message);
    }
  }

  private async play(request: TurnRequest, prefix: Prefix, exchange: Exchange): Promise<void> {
    const steps = this.respond(request);
    if (steps === undefined) {
      const message = `the script has no answer for turn ${request.turn + 1} of this conversation`;
      throw new Refused(400, 'invalid_request_error', ['no-turn'], message);
    }
    const attempt = stepsOfAttempt(steps, (index, limit) => {
      const key = `${prefix.conversation}:${request.turn}:${index}`;
      const before = this.strikes.get(key) ?? 0;
      if (before < limit) this.strikes.set(key, before + 1);
      return before < limit;
    });
    const answer = new Answer();
    this.sent.add(prefix, answer);
    const actions = play(attempt, {
      request,
      usage: this.cache.use(prefix),
      chunking: this.options.chunking ?? DEFAULT_CHUNK,
      paceMs: this.options.paceMs ?? 0,
      seed: prefix.messages.at(-1) as string,
    });
    await send(actions, exchange, answer, request.body.stream === true);
  }

  /** What a test in another process asks: the requests so far, with bodies on `?bodies`. */
  private list(req: IncomingMessage, res: ServerResponse): void {
    const bodies = (req.url ?? '').includes('?bodies');
    const requests = this.records.list.map((record) => (bodies ? record : { ...record, body: undefined }));
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(requests));
  }
}

function refuse(refused: Refused, exchange: Exchange): void {
  const { status, type, rules, message } = refused;
  exchange.record.verdict = { kind: 'refused', status, rules, message };
  if (exchange.res.headersSent) {
    exchange.res.destroy();
    return;
  }
  sendError(exchange, status, type, message);
}
