import type { Journal } from '../../src/journal/journal.js';
import { openJournal } from '../../src/journal/open.js';
import { replaceInFile } from '../../src/tools/replace-in-file.js';
import type { Tool } from '../../src/tools/tool.js';
import { writeToFile } from '../../src/tools/write-to-file.js';

// Runs one execution of an edit, killing itself at `moment`, stopping there, or going on until it is done or killed.
const [home = '', workspace = '', call = '', name = '', args = '{}', moment = ''] = process.argv.slice(2);
const tool: Tool = name === 'write_to_file' ? writeToFile : replaceInFile;
const real = await openJournal({ home });
const execution = await real.claimCall('t', call);
const journal = new Proxy(real, { get: (target, key) => interrupted(target)[String(key)] ?? Reflect.get(target, key) });
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
