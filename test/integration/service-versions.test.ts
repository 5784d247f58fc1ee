import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FakeModel, startFakeModel } from '../../src/fake-model/index.js';
import { JOURNAL_MIGRATIONS } from '../../src/journal/migrations/index.js';
import { packageIdentity } from '../../src/service/package.js';
import { asksOnce, type PackageCopy, packageCopy, type ServiceHome, serviceHome } from '../support/service.js';
import { until } from '../support/world.js';

const own = packageIdentity();

let model: FakeModel;
let service: ServiceHome;
let copies: PackageCopy[];

beforeEach(async () => {
  model = await startFakeModel({ responder: asksOnce });
  service = serviceHome(model);
  copies = [];
});

afterEach(async () => {
  await service.stop();
  for (const copy of copies) copy.remove();
  await model.close();
});

function install(options: Parameters<typeof packageCopy>[0]): PackageCopy {
  const copy = packageCopy(options);
  copies.push(copy);
  return copy;
}

async function isAnswered(task: string, command?: string): Promise<void> {
  const options = command === undefined ? {} : { command };
  expect((await service.cli(['answer', task, 'tabs'], options)).code).toBe(0);
  const { lines } = await service.cli(['attach', task, '--json'], options);
  expect(lines.at(-1)).toMatchObject({ outcome: 'completed' });
}

it('a newer version uses an older service and says so, up replaces it, and an older up does not take it back', async () => {
  const { command } = install({ version: '9.10.0', build: 'abcabcabcabc' });
  const task = await service.waitingTask();
  const before = await service.state();
  expect(before).toMatchObject(own);

  const run = await service.cli(['run', 'Ask.', '--json', '--workspace', service.workspace()], { command });
  expect(run.code).toBe(3);
  const notes = run.err.split('\n').filter((line) => line.startsWith('note:'));
  expect(notes).toHaveLength(1);
  expect(notes[0]).toContain(`The running service is Longhaul ${own.version}, build ${own.build}`);
  expect(notes[0]).toMatch(/this is Longhaul 9\.10\.0, build abcabcabcabc.*up` \(open tasks go on\)/);
  expect((await service.state()).pid).toBe(before.pid);

  const up = await service.cli(['up', '--json'], { command });
  expect([up.code, up.err]).toEqual([0, expect.stringContaining('Replacing the service') as string]);
  const after = await service.state();
  expect(after).toMatchObject({ version: '9.10.0', build: 'abcabcabcabc', address: before.address });
  await until(() => service.servicePids().length === 3);

  const older = await service.cli(['up']);
  expect(older.code).toBe(0);
  expect(older.out).toContain('running already');
  expect(older.err).toContain('not replaced by an older one');
  expect((await service.state()).pid).toBe(after.pid);
  await isAnswered(task);
}, 120_000);

it('another build of the same version is told, and up replaces it once, however many call it', async () => {
  const { command } = install({ version: own.version, build: 'rebuilt00000' });
  const task = await service.waitingTask();
  const first = await service.state();
  const ups = await Promise.all(Array.from({ length: 3 }, () => service.cli(['up', '--json'], { command })));
  expect(ups.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(new Set(ups.map(({ lines }) => lines[0]?.pid)).size).toBe(1);
  expect(await service.state()).toMatchObject({ build: 'rebuilt00000' });
  expect((await service.state()).pid).not.toBe(first.pid);
  // those that came second are just going away
  await until(() => service.servicePids().length === 3);
  await isAnswered(task, command);
}, 120_000);

it('a schema is not changed under a service that does not know it; up replaces that, and then the old version is refused', async () => {
  const schema = JOURNAL_MIGRATIONS.length;
  const { command } = install({ version: '9.0.0', build: 'newschema000', migrations: 1 });
  const task = await service.waitingTask();
  const { pid } = await service.state();
  for (const args of [['tasks'], ['answer', task, 'tabs'], ['run', 'Go.', '--workspace', service.workspace()]]) {
    const { code, err } = await service.cli(args, { command });
    expect(code).toBe(1);
    const used = `^error: The journal has schema ${schema} and is in use by the running service: Longhaul `;
    expect(err).toMatch(new RegExp(`${used}.*schema ${schema + 1}\\.$`, 'm'));
    expect(err).toMatch(/^next: .*up`/m);
    expect(err).toContain('service-version.md');
  }
  expect((await service.state()).pid).toBe(pid);
  expect((await service.cli(['tasks'])).out).toContain(task);

  expect((await service.cli(['up'], { command })).code).toBe(0);
  const refused = await service.cli(['tasks']);
  expect(refused.code).toBe(1);
  expect(refused.err).toMatch(
    new RegExp(`newer Longhaul: its schema is version ${schema + 1}, and this Longhaul ${own.version} knows ${schema}`),
  );
  await isAnswered(task, command);
}, 120_000);
