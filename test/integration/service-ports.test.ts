import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BROWSERS_REFUSE } from '../../src/devserver/ports.js';
import { type FakeModel, startFakeModel } from '../../src/fake-model/index.js';
import { asksOnce, type ServiceHome, serviceHome } from '../support/service.js';
import { until } from '../support/world.js';

/** What a page of another origin can make a browser send, and what it can send itself after its name was made to lead here. */
interface Probe {
  what: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

const FOREIGN = 'https://evil.example';
const ANSWER = '{"input":{"payloads":[{"metadata":{"encoding":"anNvbi9wbGFpbg=="},"data":"InRhYnMi"}]}}';

function probes(port: number, task: string): Probe[] {
  const workflow = `/api/v1/namespaces/default/workflows/${task}`;
  const reads = [
    '/',
    '/metrics',
    '/debug/pprof/',
    '/api/v1/settings',
    '/api/v1/namespaces/default/workflows',
    workflow,
  ];
  const writes = [
    `${workflow}/signal/answer`,
    `${workflow}/update/answer`,
    `${workflow}/terminate`,
    `${workflow}/cancel`,
  ];
  const names = [`evil.example:${port}`, 'evil.example'];
  const own = `127.0.0.1:${port}`;
  return [
    ...names.flatMap((host) => reads.map((path) => ({ what: 'foreign Host', method: 'GET', path, headers: { host } }))),
    ...reads.map((path) => ({ what: 'foreign Origin', method: 'GET', path, headers: { host: own, origin: FOREIGN } })),
    ...writes.flatMap((path) => [
      ...[own, ...names].flatMap((host) =>
        [FOREIGN, 'null', `http://${host}`].flatMap((origin) => {
          // the page's own origin under this machine's own name is the UI itself
          if (host === own && origin === `http://${own}`) return [];
          const headers = { host, origin, 'content-type': 'text/plain' };
          return [{ what: 'write', method: 'POST', path, headers, body: ANSWER }];
        }),
      ),
      {
        what: 'preflight',
        method: 'OPTIONS',
        path,
        headers: { host: own, origin: FOREIGN, 'access-control-request-method': 'POST' },
      },
      // a form or a link may come without an origin
      { what: 'no Origin', method: 'POST', path, headers: { host: own, 'sec-fetch-site': 'cross-site' }, body: ANSWER },
    ]),
  ];
}

/** What comes back, as text; empty when the connection is closed without an answer in HTTP/1. */
function send(port: number, { method, path, headers, body = '' }: Probe): Promise<string> {
  const head = [`${method} ${path} HTTP/1.1`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
  const text = `${head.join('\r\n')}\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  return new Promise((done) => {
    let got = '';
    const socket: Socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.setTimeout(5_000, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      got += chunk.toString('latin1');
      if (got.length > 100_000) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => done(got));
  });
}

interface Listener {
  pid: number;
  address: string;
  port: number;
}

/** Everything on which these processes listen, from Linux's proc files; IPv6 too. */
function listeners(pids: readonly number[]): Listener[] {
  return pids.flatMap((pid) => {
    const inodes = new Set(
      readdirSync(`/proc/${pid}/fd`).flatMap(
        (fd) => /^socket:\[(\d+)\]$/.exec(link(`/proc/${pid}/fd/${fd}`))?.[1] ?? [],
      ),
    );
    return ['tcp', 'tcp6', 'udp', 'udp6'].flatMap((table) =>
      readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
        .trim()
        .split('\n')
        .slice(1)
        .map((row) => row.trim().split(/\s+/))
        // 0A: a listening TCP socket; 07: a UDP socket that takes from everybody
        .filter((fields) => inodes.has(fields[9] ?? '') && fields[3] === (table.startsWith('tcp') ? '0A' : '07'))
        .map((fields) => {
          const [address = '', port = ''] = (fields[1] ?? '').split(':');
          return { pid, address, port: Number.parseInt(port, 16) };
        }),
    );
  });
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

describe.runIf(process.platform === 'linux')('the ports of the service', () => {
  let model: FakeModel;
  let service: ServiceHome;
  let task: string;

  beforeAll(async () => {
    model = await startFakeModel({ responder: asksOnce });
    service = serviceHome(model);
    task = await service.waitingTask();
  }, 120_000);

  afterAll(async () => {
    await service.stop();
    await model.close();
  });

  const history = async (): Promise<string> => {
    const { ui } = await service.state();
    return (await fetch(`${ui}/api/v1/namespaces/default/workflows/${task}/history`)).text();
  };

  it('are on 127.0.0.1 only, and refuse what another web page can send', async () => {
    const { ui, address, pid } = await service.state();
    // the run is over when it waits; its last events may still be on their way
    let before = await history();
    await until(async () => {
      const earlier = before;
      await new Promise((done) => setTimeout(done, 500));
      before = await history();
      return before === earlier;
    });
    expect(before).toContain('WORKFLOW_EXECUTION_STARTED');
    const found = listeners(service.pids());
    expect(found.filter((one) => one.address !== '0100007F')).toEqual([]);
    const ports = found.map(({ port }) => port);
    expect(ports).toContain(Number(new URL(ui).port));
    expect(ports).toContain(Number(address.split(':')[1]));
    expect(found.filter((one) => one.pid === pid)).toHaveLength(1);

    for (const port of ports) {
      // the metrics answer whoever asks, so they are where no browser connects to
      const metrics = BROWSERS_REFUSE.includes(port);
      if (metrics) await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow();
      for (const probe of probes(port, task)) {
        const answer = await send(port, probe);
        const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'none';
        const allowed = metrics && probe.path === '/metrics' ? ['200'] : ['none', '400', '403', '404', '501'];
        expect({ port, ...probe, status }).toMatchObject({ status: expect.toBeOneOf(allowed) as string });
        expect(answer).not.toContain(task);
        expect(answer).not.toMatch(/^access-control-allow/im);
      }
    }
    expect(await history()).toBe(before);
  }, 120_000);

  it('speak HTTP/2 only, or know none but the UI: the HTTP API answers nobody who guesses', async () => {
    const { ui, address } = await service.state();
    const path = '/api/v1/namespaces/default/workflows';
    for (const { port } of listeners(service.pids())) {
      if (port === Number(new URL(ui).port) || BROWSERS_REFUSE.includes(port)) continue;
      const answer = await send(port, { what: '', method: 'GET', path, headers: { host: `127.0.0.1:${port}` } });
      // gRPC closes, or says in a frame of HTTP/2 that it speaks nothing else
      expect(answer).not.toMatch(/^HTTP\/1\.1 200/);
      if (port === Number(address.split(':')[1])) expect(answer).not.toMatch(/^HTTP\/1/);
    }
  });

  it('are the UI for people, whose pages come from a server that knows no task', async () => {
    const { ui } = await service.state();
    const known = new Set(service.pids());
    const page = await fetch(`${ui}/namespaces/default/workflows/${task}`);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('_app');
    const [pages, ...more] = service.servicePids().filter((pid) => !known.has(pid));
    expect(more).toEqual([]);
    const found = listeners([pages ?? 0]);
    expect(found.filter((one) => one.address !== '0100007F')).toEqual([]);
    const before = await history();
    for (const { port } of found)
      for (const probe of probes(port, task))
        expect(await send(port, probe)).not.toMatch(/"executions"|"workflowExecutionInfo"/);
    expect(await history()).toBe(before);

    // it goes with the service
    process.kill((await service.state()).pid, 'SIGKILL');
    expect((await service.cli(['down'])).code).toBe(0);
    await until(() => service.pids().length === 0);
  }, 60_000);
});
