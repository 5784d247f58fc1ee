import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startFakeModel } from './fake-model.js';
import { postRaw } from './raw-client.js';
import { readScript } from './script.js';

const EXAMPLE = fileURLToPath(new URL('../../examples/slugify/', import.meta.url));

interface Answer {
  content: { type: string; id?: string; name?: string; input?: Record<string, string> }[];
}

/** Plays the script to its end; every call but the question is answered with `ok`. */
async function callsOf(reply: string) {
  const model = await startFakeModel({ script: await readScript(join(EXAMPLE, 'model.script')) });
  const messages: object[] = [{ role: 'user', content: 'Fix the tests' }];
  const turns: { name: string; input: Record<string, string> }[][] = [];
  try {
    while (turns.flat().at(-1)?.name !== 'attempt_completion') {
      const { text } = await postRaw(model.url, { model: 'm', max_tokens: 1000, messages });
      const { content } = JSON.parse(text) as Answer;
      const calls = content.filter(({ type }) => type === 'tool_use');
      turns.push(calls.map(({ name = '', input = {} }) => ({ name, input })));
      const results = calls.map(({ id, name }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: name === 'ask_followup_question' ? reply : 'ok',
      }));
      messages.push({ role: 'assistant', content }, { role: 'user', content: results });
    }
    expect(model.refused()).toEqual([]);
    return turns;
  } finally {
    await model.close();
  }
}

async function runTests(folder: string): Promise<{ code: unknown; output: string }> {
  const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, VITEST: ___, ...env } = process.env;
  const child = spawn(process.execPath, ['--test', '--test-reporter=tap'], { cwd: folder, env });
  let output = '';
  child.stdout.on('data', (piece) => {
    output += String(piece);
  });
  const [code] = await once(child, 'close');
  return { code, output };
}

function applyBlock(text: string, diff: string): string {
  const [, search, replace] = /^-{7} SEARCH\n([\s\S]*\n)={7}\n([\s\S]*\n)\+{7} REPLACE$/.exec(diff) ?? [];
  expect(text.split(String(search))).toHaveLength(2);
  return text.replace(String(search), () => String(replace));
}

describe('the example of the demo', () => {
  it('fails before, and passes with the edit that the script makes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'slugify-'));
    await cp(join(EXAMPLE, 'workspace'), folder, { recursive: true });
    const before = await runTests(folder);
    expect([before.code, /^# fail (\d+)/m.exec(before.output)?.[1]]).toEqual([1, '2']);

    const calls = (await callsOf('whatever you think')).flat();
    const edit = calls.find(({ name }) => name === 'replace_in_file')?.input ?? {};
    const file = join(folder, String(edit.path));
    await writeFile(file, applyBlock(await readFile(file, 'utf8'), String(edit.diff)));
    const after = await runTests(folder);
    expect([after.code, /^# pass (\d+)/m.exec(after.output)?.[1]]).toEqual([0, '4']);
  });

  it('reads, asks, edits, tests and completes, whatever the answer to its question is', async () => {
    const turns = await callsOf('In slugify.js');
    expect(turns.map((calls) => calls.map(({ name }) => name))).toEqual([
      ['read_file', 'read_file'],
      ['ask_followup_question'],
      ['replace_in_file'],
      ['execute_command'],
      ['attempt_completion'],
    ]);
    const question = turns[1]?.[0]?.input ?? {};
    expect(JSON.parse(String(question.options))).toHaveLength(2);
    expect(turns[3]?.[0]?.input).toEqual({ command: 'node --test', requires_approval: 'false' });
    expect(await callsOf('<anything> "else"\n')).toEqual(turns);
  });
});
