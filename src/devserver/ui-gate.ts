import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { LonghaulError, messageOf } from '../domain/errors.js';
import { chooseUiPort, isFixed, PORT_VARIABLES, portTaken } from './ports.js';
import type { HttpApi } from './server.js';
import type { UiPages } from './ui-pages.js';

export interface UiGateOptions {
  /** File that remembers the ports. */
  portsFile: string;
  env: NodeJS.ProcessEnv;
  /** Where the server's HTTP API is now. */
  api: () => HttpApi | undefined;
  pages: Pick<UiPages, 'port'>;
}

export interface UiGate {
  /** Address of the UI, such as `http://127.0.0.1:8233`. */
  url: string;
  close(): Promise<void>;
}

/**
 * Temporal's UI, for this machine only: pages from {@link UiPages}, data from the server's HTTP API. Requests that a
 * page of another origin has caused, and those under another name than this machine's, are refused.
 * @throws LonghaulError `port-taken`, `bad-settings`
 */
export async function openUiGate(options: UiGateOptions): Promise<UiGate> {
  const server = createServer((req, res) => {
    const { port } = server.address() as AddressInfo;
    const refusal = refusalOf(req.method ?? 'GET', req.url ?? '/', req.headers, port);
    if (refusal) reply(res, 403, `${refusal} Open http://127.0.0.1:${port}/ in a browser of this machine.`);
    else void pass(options, req, res).catch((err) => reply(res, 502, `The UI is not available: ${messageOf(err)}.`));
  });
  for (let tries = 1; ; tries++) {
    const port = await chooseUiPort(options.portsFile, options.env, tries > 1);
    if (await listens(server, port)) break;
    if (isFixed('ui', options.env)) throw portTaken(port, PORT_VARIABLES.ui);
    if (tries === 3) throw new LonghaulError('service-failed', 'No port could be opened for the Temporal UI.');
  }
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/**
 * Why a request is refused; undefined when it may pass. A browser says which page has caused it (`Origin`,
 * `Sec-Fetch-Site`), and under which name it knows this server (`Host`): a name that somebody has made to lead here is
 * not ours. Only to open a page may other pages lead here.
 */
export function refusalOf(
  method: string,
  path: string,
  headers: IncomingHttpHeaders,
  port: number,
): string | undefined {
  const host = headers.host?.toLowerCase();
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) return 'This is not the name of this server.';
  if (headers.origin !== undefined && headers.origin !== `http://${host}`)
    return 'Other pages may not use this server.';
  const reads = method === 'GET' || method === 'HEAD';
  const site = headers['sec-fetch-site'];
  // some browsers leave the origin out where the page is our own
  if (!reads && headers.origin === undefined && site !== 'same-origin')
    return 'The request does not say which page it comes from.';
  const opens = reads && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
  return opens && !isApi(path) ? undefined : 'Other pages may not use this server.';
}

const isApi = (path: string): boolean => path.startsWith('/api/');

/** Of the server that has the pages: how they are set up. */
const SETTINGS = '/api/v1/settings';

/** Payloads as they are stored, which is what the pages expect. */
const API_JSON = 'application/json+no-payload-shorthand';

async function pass(options: UiGateOptions, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const path = req.url ?? '/';
  if (!isApi(path) || path.split('?')[0] === SETTINGS) {
    const port = await options.pages.port();
    const { 'accept-encoding': encoding, accept } = req.headers;
    const headers = { ...(encoding && { 'accept-encoding': encoding }), ...(accept && { accept }) };
    return forward(req, res, { port, host: `127.0.0.1:${port}` }, headers, pageHeaders(path));
  }
  const api = options.api();
  if (!api) throw new Error('the Temporal server is just starting');
  const body = req.headers['content-length'];
  const headers = { accept: API_JSON, 'content-type': API_JSON, ...(body && { 'content-length': body }) };
  return forward(req, res, api, headers, { 'content-type': 'application/json', 'cache-control': 'no-store' });
}

/** Files whose name changes with their content need not be asked for twice. */
const pageHeaders = (path: string): Record<string, string> =>
  path.startsWith('/_app/immutable/') ? { 'cache-control': 'public, max-age=31536000, immutable' } : {};

const GATE_HEADERS = { 'x-content-type-options': 'nosniff', 'cross-origin-resource-policy': 'same-origin' };

function forward(
  req: IncomingMessage,
  res: ServerResponse,
  to: HttpApi,
  headers: Record<string, string>,
  replace: Record<string, string>,
): Promise<void> {
  return new Promise((done, failed) => {
    const { method, url: path } = req;
    const target = { host: '127.0.0.1', port: to.port, method, path, headers: { ...headers, host: to.host } };
    const onward = request(target, (answer) => {
      const { connection: _, 'transfer-encoding': __, ...kept } = answer.headers;
      res.writeHead(answer.statusCode ?? 502, { ...kept, ...GATE_HEADERS, ...replace });
      pipeline(answer, res, () => done());
    });
    onward.on('error', failed);
    res.once('close', () => onward.destroy());
    req.pipe(onward);
  });
}

function reply(res: ServerResponse, status: number, line: string): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  res.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...GATE_HEADERS });
  res.end(`${line}\n`);
}

function listens(server: ReturnType<typeof createServer>, port: number): Promise<boolean> {
  return new Promise((done, failed) => {
    const lost = (err: NodeJS.ErrnoException): void => (err.code === 'EADDRINUSE' ? done(false) : failed(err));
    server.once('error', lost);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', lost);
      done(true);
    });
  });
}
