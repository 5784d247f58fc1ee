import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, finish } from '../../src/fake-model/index.js';
import { answers, completed, done, play } from '../support/playing.js';
import { resultsOf } from '../support/requests.js';
import { isAsk, startWorld, type World } from '../support/world.js';

const PATCH = '*** Begin Patch\n*** Update File: a\n-a\n+A\n*** Add File: d/new\n+n\n*** Delete File: b\n*** End Patch';
const ASKS = { policy: { yolo: false, approve: ['read' as const] } };

describe('edits of a task', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld();
    await world.worker();
  });
  afterAll(() => world.stop());

  const textOf = (workspace: string, name: string) => readFileSync(join(workspace, name), 'utf8');

  it('a patch is on no disk before a person allows it, and not where a file of it changed since they saw it', async () => {
    const again = [call('apply_patch', { input: PATCH }), finish()];
    const prepared = world.workspace({ a: 'a\n', b: 'b\n' });
    const task = await play(world, answers(again, again), { ...ASKS, workspace: prepared });
    const first = await world.event(task.task, isAsk);
    expect(first.ask.question).toBe('Allow apply_patch a, d/new, b?');
    expect(readdirSync(prepared).sort()).toEqual(['a', 'b']);
    writeFileSync(join(prepared, 'b'), 'theirs\n');
    await task.client.answer(task.task, { ask: first.ask.id, answer: 'yes' });
    const { ask } = await world.event(
      task.task,
      (event): event is typeof first => isAsk(event) && event.ask.id !== first.ask.id,
    );
    expect(resultsOf(task.model.requests[1]?.body)[0]).toMatchObject({ error: true });
    expect([textOf(prepared, 'a'), textOf(prepared, 'b')]).toEqual(['a\n', 'theirs\n']);
    await task.client.answer(task.task, { ask: ask.id, answer: 'yes' });
    await completed(world, task);
    expect(readdirSync(prepared).sort()).toEqual(['a', 'd']);
    expect([textOf(prepared, 'a'), textOf(prepared, 'd/new')]).toEqual(['A\n', 'n\n']);
  });

  it('what is written into .git is asked for, under yolo too', async () => {
    const workspace = world.workspace();
    mkdirSync(join(workspace, '.git/hooks'), { recursive: true });
    const hook = call('write_to_file', { path: '.git/hooks/post-checkout', content: '#!/bin/sh\n' });
    const task = await play(world, answers([hook, finish()]), { policy: { yolo: true, approve: [] }, workspace });
    const { ask } = await world.event(task.task, isAsk);
    expect(ask.question).toContain('(git or Longhaul obeys what is in it)');
    await task.client.answer(task.task, { ask: ask.id, answer: 'no' });
    await completed(world, task);
    expect(readdirSync(join(workspace, '.git/hooks'))).toEqual([]);
  });

  it('a file that a person changed after the model read it is shown, not overwritten', async () => {
    const workspace = world.workspace({ 'notes.md': 'notes\n' });
    const turns = [
      [call('read_file', { path: 'notes.md' }), finish()],
      [call('write_to_file', { path: 'notes.md', content: 'notes\nmine\n' }), finish()],
      [call('write_to_file', { path: 'notes.md', content: 'notes\ntheirs\nmine\n' }), finish()],
    ];
    const task = await play(
      world,
      ({ turn }) => {
        if (turn === 1) writeFileSync(join(workspace, 'notes.md'), 'notes\ntheirs\n');
        return turns[turn] ?? done;
      },
      { policy: { yolo: true, approve: [] }, workspace },
    );
    await completed(world, task);
    expect(resultsOf(task.model.requests[2]?.body)[0]?.text).toMatch(/nothing was written[\s\S]*2 \| theirs/);
    expect(textOf(workspace, 'notes.md')).toBe('notes\ntheirs\nmine\n');
  });
});
