import { describe, expect, it } from 'vitest';
import { type HostLease, LOCAL_SERVER } from '../../journal/rows.js';
import { recordEnvironment } from '../../service/environment.js';
import type { ServiceLook } from './temporal-look.js';
import { workersFinding } from './workers.js';

describe('workers', () => {
  const now = 1_000_000;
  const lease: HostLease = {
    host: 'h',
    role: 'all',
    queue: 'longhaul',
    server: LOCAL_SERVER,
    pid: process.pid,
    until: now + 1,
  };
  const open = [{ server: LOCAL_SERVER, status: 'running' as const, queue: 'longhaul', count: 2 }];
  const up: ServiceLook = {
    state: 'running',
    service: {
      pid: process.pid,
      processStart: 's',
      address: '127.0.0.1:7233',
      namespace: 'default',
      ui: 'http://127.0.0.1:8233',
      version: '0.1.0',
      build: 'b',
      root: '/r',
      environment: recordEnvironment({}),
      started: now,
      workerPid: process.pid,
    },
  };
  const finding = (service: ServiceLook, more: { leases?: HostLease[]; tasks?: typeof open }, server = LOCAL_SERVER) =>
    workersFinding(server, service, { leases: [], tasks: [], ...more }, '/home/logs', now);

  it('are well when one lives, or none is needed', () => {
    expect(finding(up, { leases: [lease], tasks: open })).toEqual({ state: 'ok', found: `h (process ${process.pid})` });
    expect(finding({ state: 'down' }, {}).state).toBe('ok');
    expect(finding({ state: 'between', pid: 1 }, { tasks: open }).state).toBe('ok');
  });

  it('deserve a look when open tasks wait for the service', () => {
    expect(finding({ state: 'down' }, { tasks: open })).toEqual({
      state: 'warn',
      found: 'none alive, and 2 tasks are open',
      next: 'Start the service with `longhaul up`, and they go on.',
    });
    const elsewhere = [{ ...open[0]!, server: 'other:7233/default' }];
    expect(finding({ state: 'down' }, { tasks: elsewhere }).state).toBe('ok');
  });

  it('are broken when the service runs without one, or with one that hangs', () => {
    expect(finding(up, { tasks: open })).toMatchObject({ state: 'bad', next: expect.stringContaining('worker.log') });
    const hung = finding(up, { leases: [{ ...lease, until: now - 1 }], tasks: open });
    expect(hung).toMatchObject({
      state: 'bad',
      found: `process ${process.pid} gives no sign of life, and 2 tasks are open`,
    });
    expect(finding(up, { leases: [{ ...lease, until: now - 1 }] }).state).toBe('warn');
  });

  const workflow = { ...lease, role: 'workflow' as const };
  const host = { ...lease, role: 'host' as const, queue: 'longhaul-host-a' };
  const hosted = [{ ...open[0]!, queue: 'longhaul-host-a' }];

  it('are well when one decides and one works on the queue of the tasks', () => {
    for (const leases of [
      [workflow, host],
      [lease, host],
    ])
      expect(finding(up, { leases, tasks: hosted }).state).toBe('ok');
    expect(finding(up, { leases: [workflow, host] })).toEqual({
      state: 'ok',
      found: `h (process ${process.pid}, workflow), h (process ${process.pid}, host)`,
    });
  });

  it('are broken when half of what tasks need is not there, and deserve a look when no task is open', () => {
    const cases: [HostLease[], RegExp, RegExp][] = [
      [[host], /none decides/, /--role workflow/],
      [[workflow], /none works in folders/, /--role host/],
    ];
    for (const [leases, found, next] of cases) {
      expect(finding(up, { leases, tasks: hosted })).toMatchObject({
        state: 'bad',
        found: expect.stringMatching(new RegExp(`${found.source}, and 2 tasks cannot go on$`)),
        next: expect.stringMatching(next),
      });
      expect(finding(up, { leases })).toMatchObject({ state: 'warn', found: expect.stringMatching(found) });
    }
  });

  it('are broken when none works on the queue of a task, and the text says how to start it', () => {
    const stuck = finding(up, { leases: [workflow, { ...host, queue: 'longhaul-host-b' }], tasks: hosted });
    expect(stuck).toMatchObject({
      state: 'bad',
      found: expect.stringContaining('none works on longhaul-host-a, and 2 tasks cannot go on'),
      next: expect.stringContaining('`longhaul worker --role host --host a`'),
    });
    const plain = finding(up, { leases: [workflow, host], tasks: open });
    expect(plain).toMatchObject({ state: 'bad', next: expect.stringContaining('`longhaul worker`') });
  });

  it('of a named server are started by hand', () => {
    const key = 'a:7233/n';
    const tasks = [{ ...open[0]!, server: key, count: 1 }];
    expect(finding({ state: 'down' }, { tasks }, key)).toMatchObject({
      state: 'bad',
      found: 'none alive, and 1 task is open',
      next: expect.stringContaining('longhaul worker'),
    });
    expect(finding({ state: 'down' }, {}, key).state).toBe('warn');
    expect(finding({ state: 'down' }, { tasks, leases: [{ ...lease, server: key }] }, key).state).toBe('ok');
  });
});
