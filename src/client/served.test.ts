import { expect, test } from 'vitest';
import type { WorkerRole } from '../domain/queues.js';
import type { TaskRow } from '../journal/rows.js';
import { shownStatus } from './served.js';

const row = (more: Partial<TaskRow>, hostQueue?: string): TaskRow => ({
  task: 't',
  created: 0,
  workspace: '/w',
  model: 'm',
  title: 't',
  server: 'local',
  status: 'running',
  since: 0,
  turns: 0,
  cost: 0,
  input: JSON.stringify(hostQueue === undefined ? {} : { hostQueue }),
  carried: null,
  run: null,
  profile: null,
  seq: 1,
  ...more,
});

const worker = (role: WorkerRole, queue = 'longhaul', server = 'local') => ({
  host: 'h',
  role,
  queue,
  server,
  pid: 1,
  until: 0,
});

test('a task runs when somebody decides and somebody works in its folder, on its server and queue', () => {
  const own = row({});
  expect(shownStatus(own, [worker('all')])).toBe('running');
  expect(shownStatus(own, [])).toBe('no_worker');
  expect(shownStatus(own, [worker('all', 'longhaul', 'other:7233/default')])).toBe('no_worker');
  expect(shownStatus(own, [worker('workflow')])).toBe('no_worker');
  expect(shownStatus(own, [worker('all', 'longhaul-host-b')])).toBe('no_worker');

  const hosted = row({}, 'longhaul-host-a');
  expect(shownStatus(hosted, [worker('workflow'), worker('host', 'longhaul-host-a')])).toBe('running');
  expect(shownStatus(hosted, [worker('all'), worker('host', 'longhaul-host-a')])).toBe('running');
  expect(shownStatus(hosted, [worker('host', 'longhaul-host-a')])).toBe('no_worker');
  expect(shownStatus(hosted, [worker('workflow'), worker('host', 'longhaul-host-b')])).toBe('no_worker');
});

test.each([
  ['starting', 'no_worker'],
  ['running', 'no_worker'],
  ['parked', 'no_worker'],
  ['aborting', 'no_worker'],
  ['waiting', 'waiting'],
  ['completed', 'completed'],
  ['failed', 'failed'],
] as const)('without a worker %s is shown as %s', (status, shown) => {
  expect(shownStatus(row({ status }), [])).toBe(shown);
});
