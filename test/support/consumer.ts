import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './world.js';

/** Uses all that is exported, as a program of somebody else's would. */
const PROGRAM = `
import {
  type Ask, createWorker, errorPage, LonghaulError, type LonghaulWorker, type Partial, type StoredEvent, TaskClient,
  type TaskDetails, type TaskEnd, type TaskSummary, type WorkerLogEntry,
} from 'longhaul';
import { call, finish, type FakeModel, script, startFakeModel } from 'longhaul/fake-model';

export async function use(): Promise<string> {
  const entries: WorkerLogEntry[] = [];
  const worker: LonghaulWorker = await createWorker({ role: 'all', host: 'a', home: '/h', log: (one) => entries.push(one) });
  const running: Promise<void> = worker.run();
  const client: TaskClient = await TaskClient.connect({ home: '/h', env: process.env });
  const { task } = await client.start({ prompt: 'p', workspace: '.', policy: { yolo: false, approve: ['read', 'edit'] } });
  for await (const { seq, event } of client.follow(task, { from: 1 })) if (event.type === 'say') console.log(seq, event.say);
  for await (const item of client.follow(task, { partials: true, signal: AbortSignal.timeout(1) })) {
    const text: string = 'seq' in item ? (item satisfies StoredEvent).event.type : (item satisfies Partial).text;
    console.log(text);
  }
  const all: TaskSummary[] = await client.list({ status: 'waiting', limit: 3 });
  const one: TaskDetails = await client.get(await client.resolve(task));
  const asks: Ask[] = one.asks;
  for (const ask of asks) await client.answer(task, { ask: ask.id, answer: 'no', text: ask.detail ? await client.text(ask.detail) : '' });
  await client.send(task, 'hello');
  await client.abort(task);
  const end: TaskEnd = await client.result(task);
  const model: FakeModel = await startFakeModel({ script: script(call('attempt_completion', { result: 'r' }), finish()) });
  await model.close();
  await client.close();
  await worker.shutdown();
  await running;
  const err: unknown = new LonghaulError('internal', 'x');
  if (LonghaulError.is(err)) console.log(errorPage(err.slug), all.length);
  return end.outcome === 'completed' ? end.result : end.outcome;
}

export async function wrong(client: TaskClient): Promise<void> {
  // @ts-expect-error the journal is no part of what is offered
  console.log(client.journal);
  // @ts-expect-error there is no such status
  await client.list({ status: 'sleeping' });
  // @ts-expect-error without partials every item has an event
  for await (const item of client.follow('t')) console.log(item.offset);
}
`;

/** A TypeScript project in `folder` that uses the installed package; one configuration for each way to resolve modules. */
export function writeConsumer(folder: string, installed: string): string[] {
  mkdirSync(join(folder, 'node_modules', '@types'), { recursive: true });
  symlinkSync(installed, join(folder, 'node_modules', 'longhaul'));
  for (const name of ['@types/node', 'undici-types']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }));
  writeFileSync(join(folder, 'program.ts'), PROGRAM);
  return [
    ['nodenext', 'nodenext'],
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ].map(([module, moduleResolution]) => {
    const file = join(folder, `tsconfig.${moduleResolution}.json`);
    const compilerOptions = {
      target: 'es2022',
      lib: ['es2023'],
      types: ['node'],
      module,
      moduleResolution,
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
    };
    writeFileSync(file, JSON.stringify({ compilerOptions, files: ['program.ts'] }));
    return file;
  });
}
