import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Journal } from '../../src/journal/journal.js';
import { openJournal } from '../../src/journal/open.js';
import { findTool } from '../../src/tools/registry.js';

// Runs one execution of an edit, killing itself at `moment`, stopping there, or going on until it is done or killed.
// The moment `call N` is before the N-th call that changes a folder.
const [home = '', workspace = '', call = '', name = '', args = '{}', moment = ''] = process.argv.slice(2);
const tool = findTool(name);
if (!tool) throw new Error(`no tool ${name}`);
const real = await openJournal({ home });
const execution = await real.claimCall('t', call);
const journal = new Proxy(real, { get: (target, key) => interrupted(target)[String(key)] ?? Reflect.get(target, key) });
let calls = 0;
for (const change of ['renameSync', 'linkSync', 'unlinkSync', 'mkdirSync', 'rmdirSync'] as const) {
  const original = fs[change] as (...args: unknown[]) => unknown;
  Object.assign(fs, {
    [change]: (...args: unknown[]) => {
      reach(`call ${++calls}`);
      return original(...args);
    },
  });
}
syncBuiltinESMExports();
process.stdout.write('ready\n');
try {
  const outcome = await tool.run(JSON.parse(args), {
    workspace,
    journal,
    signal: new AbortController().signal,
    task: 't',
    turn: 'turn',
    call,
    execution,
    policy: { yolo: true, approve: [] },
    approved: undefined,
    commandsDir: home,
    stopKind: () => 'detach',
    partial: () => undefined,
  });
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
} catch (err) {
  process.stdout.write(`${JSON.stringify({ error: (err as Error).name })}\n`);
}
await real.close();

function interrupted(target: Journal): Record<string, unknown> {
  return {
    async putIntent(...given: Parameters<Journal['putIntent']>) {
      reach('before intent');
      await target.putIntent(...given);
      reach('after intent');
    },
    async whileClaimed<T>(key: string, number: number, act: () => T) {
      reach('before claim');
      const result = await target.whileClaimed(key, number, () => {
        reach('before rename');
        const value = act();
        reach('after rename');
        return value;
      });
      reach('after claim');
      return result;
    },
  };
}

function reach(here: string): void {
  if (moment === here) process.kill(process.pid, 'SIGKILL');
  if (moment === `stop ${here}`) process.kill(process.pid, 'SIGSTOP');
}
