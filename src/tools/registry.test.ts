import { expect, test } from 'vitest';
import { toolBench } from '../../test/support/tools.js';
import { findTool, offeredTools, parseArguments, tools } from './registry.js';
import type { Tool } from './tool.js';

function tool(name: string): Tool {
  const found = findTool(name);
  if (!found) throw new Error(`no tool ${name}`);
  return found;
}

test('what the model is offered is within the rules of the Messages API, and always the same bytes', () => {
  const offered = offeredTools({ yolo: false });
  expect(offered.map((one) => one.name)).toEqual([
    'read_file',
    'write_to_file',
    'replace_in_file',
    'apply_patch',
    'list_files',
    'search_files',
    'list_code_definition_names',
    'execute_command',
    'ask_followup_question',
    'plan_mode_respond',
    'act_mode_respond',
    'attempt_completion',
  ]);
  for (const { name, description, input_schema: schema } of offered) {
    expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(description.length).toBeGreaterThan(20);
    expect(schema.type).toBe('object');
    for (const word of ['$schema', 'oneOf', 'anyOf', 'allOf']) expect(schema).not.toHaveProperty(word);
    expect(schema.properties).toHaveProperty('task_progress.type', 'string');
    expect(schema.required).not.toContain('task_progress');
  }
  expect(JSON.stringify(offeredTools({ yolo: false }))).toBe(JSON.stringify(offered));
  expect(offeredTools({ yolo: true }).map((one) => one.name)).toEqual(
    offered.map((one) => one.name).filter((name) => name !== 'ask_followup_question'),
  );
});

test('schemas say which parameters are needed and of which type', () => {
  const schemas = new Map(offeredTools({ yolo: false }).map((one) => [one.name, one.input_schema]));
  expect(schemas.get('read_file')).toMatchObject({
    properties: { path: { type: 'string' }, start_line: { type: 'integer' }, end_line: { type: 'integer' } },
    required: ['path'],
    additionalProperties: false,
  });
  expect(schemas.get('read_file')).not.toHaveProperty('properties.start_line.maximum');
  expect(schemas.get('write_to_file')?.required).toEqual(['path', 'content']);
  expect(schemas.get('list_files')).toHaveProperty('properties.recursive.type', 'boolean');
  expect(schemas.get('ask_followup_question')).toHaveProperty('properties.options.items.type', 'string');
});

test('arguments come as strings or as native types', () => {
  const ok = (name: string, raw: unknown) => parseArguments(tool(name), raw);
  const range = { ok: { path: 'a', start_line: 3, end_line: 9 } };
  expect(ok('read_file', { path: 'a', start_line: '3', end_line: 9, task_progress: '- [ ] x', other: 1 })).toEqual(
    range,
  );
  expect(ok('read_file', { path: 'a', start_line: '', end_line: null })).toEqual({ ok: { path: 'a' } });
  expect(ok('read_file', { absolutePath: '/a' })).toEqual({ ok: { path: '/a' } });
  expect(ok('write_to_file', { path: 'a', content: '' })).toEqual({ ok: { path: 'a', content: '' } });
  expect(ok('write_to_file', { path: 7, content: true })).toEqual({ ok: { path: '7', content: 'true' } });
  expect(ok('list_files', { path: '.', recursive: 'TRUE' })).toEqual({ ok: { path: '.', recursive: true } });
  expect(ok('list_files', { path: '.', recursive: false })).toEqual({ ok: { path: '.', recursive: false } });
  for (const options of [['a', 2], '["a", 2]', 'a\n 2\n']) {
    expect(ok('ask_followup_question', { question: 'q', options })).toEqual({
      ok: { question: 'q', options: ['a', '2'] },
    });
  }
  const plan = { response: 'So?', options: '["a"]', needs_more_exploration: 'True' };
  expect(ok('plan_mode_respond', plan)).toEqual({
    ok: { response: 'So?', options: ['a'], needs_more_exploration: true },
  });
  expect(ok('attempt_completion', { response: 'done' })).toEqual({ ok: { result: 'done' } });
  expect(ok('attempt_completion', { response: 'old', result: 'done' })).toEqual({ ok: { result: 'done' } });
});

test('problems name the parameter', () => {
  const problem = (name: string, raw: unknown) => JSON.stringify(parseArguments(tool(name), raw));
  expect(problem('read_file', {})).toContain('The parameter \\"path\\" of read_file is missing');
  expect(problem('write_to_file', { path: 'a' })).toContain('\\"content\\" of write_to_file is missing');
  expect(problem('write_to_file', { path: 'a', content: { a: 1 } })).toContain('\\"content\\"');
  expect(problem('write_to_file', { path: ' ', content: '' })).toContain('must not be blank');
  expect(problem('read_file', { path: 'a', start_line: 'first' })).toContain('\\"start_line\\"');
  expect(problem('read_file', { path: 'a', start_line: 1.5 })).toContain('\\"start_line\\"');
  expect(problem('list_files', { path: 'a', recursive: 'maybe' })).toContain('\\"recursive\\"');
  for (const raw of [null, 'text', ['a'], 3]) expect(problem('read_file', raw)).toContain('must be one JSON object');
  expect(problem('read_file', JSON.parse('{"__proto__": {"path": "a"}}'))).toContain('missing');
});

test('effect classes', () => {
  expect(Object.fromEntries(tools.map((one) => [one.name, one.effect]))).toEqual({
    read_file: 'pure',
    write_to_file: 'checkable',
    replace_in_file: 'checkable',
    apply_patch: 'checkable',
    list_files: 'pure',
    search_files: 'pure',
    list_code_definition_names: 'pure',
    execute_command: 'attachable',
    ask_followup_question: 'control',
    plan_mode_respond: 'control',
    act_mode_respond: 'control',
    attempt_completion: 'control',
  });
});

test('control tools tell the workflow what to do', async () => {
  const bench = await toolBench();
  const options = ['yes', ' yes ', '', ...Array.from({ length: 9 }, (_, i) => `${i}`.repeat(500))];
  const asked = await bench.prepare(tool('ask_followup_question'), { question: 'Which?', options });
  expect(asked).toMatchObject({ approval: { need: 'none' }, control: { do: 'ask', question: { text: 'Which?' } } });
  expect(asked.control).toHaveProperty('options.length', 6);
  expect(JSON.stringify(asked).length).toBeLessThan(2000);
  const plan = { response: 'First, then.', options: ['a'], needs_more_exploration: true };
  const shown = await bench.prepare(tool('plan_mode_respond'), plan);
  expect(shown.control).toEqual({
    do: 'plan_respond',
    response: { text: 'First, then.' },
    options: ['a'],
    explore: true,
  });
  const asks = await bench.prepare(tool('plan_mode_respond'), { response: 'So?' });
  expect(asks.control).toMatchObject({ options: [], explore: false });
  const told = await bench.prepare(tool('act_mode_respond'), { response: 'Next: tests.' });
  expect(told.control).toEqual({ do: 'act_respond', response: { text: 'Next: tests.' } });
  const done = await bench.prepare(tool('attempt_completion'), { result: 'Done. '.repeat(1000) });
  expect(done).toMatchObject({ approval: { need: 'none' }, control: { do: 'complete', result: { bytes: 6000 } } });
  expect(done.control).not.toHaveProperty('command');
  expect(done.summary.length).toBeLessThanOrEqual(120);
  const ran = await bench.prepare(tool('attempt_completion'), { result: 'Done.', command: 'npm start' });
  expect(ran).toMatchObject({ approval: { need: 'command' }, preview: 'npm start', control: { command: true } });
});
