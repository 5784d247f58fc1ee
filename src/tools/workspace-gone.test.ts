import { rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { toolBench } from '../../test/support/tools.js';
import { tools } from './registry.js';
import { ToolError } from './tool.js';

const ARGUMENTS: Record<string, Record<string, unknown>> = {
  read_file: { path: 'f' },
  write_to_file: { path: 'f', content: 'x' },
  replace_in_file: { path: 'f', diff: '------- SEARCH\nx\n=======\ny\n+++++++ REPLACE' },
  list_files: { path: '.' },
  search_files: { path: '.', regex: 'x' },
  execute_command: { command: 'echo done' },
};

test('a workspace that is gone is an error of every tool, and not the mistake of the model', async () => {
  const bench = await toolBench();
  await rm(bench.workspace, { recursive: true });
  let tried = 0;
  for (const tool of tools) {
    const args = ARGUMENTS[tool.name];
    if (args === undefined) continue;
    const outcome = await bench.run(tool, args);
    expect(outcome, tool.name).toMatchObject({ status: 'error', mistake: false });
    expect(outcome.text, tool.name).toContain('The workspace folder is gone');
    if (tool.name !== 'execute_command') {
      const refused = await bench.prepare(tool, args).catch((err: unknown) => err);
      expect(refused, tool.name).toBeInstanceOf(ToolError);
      expect(refused, tool.name).toMatchObject({ mistake: false });
    }
    tried++;
  }
  expect(tried).toBe(Object.keys(ARGUMENTS).length);
});
