import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERROR_SLUGS } from '../../src/domain/errors.js';
import { call, finish, type Responder } from '../../src/fake-model/index.js';
import { done } from '../support/playing.js';
import { seeded } from '../support/random.js';
import { isAsk, isClosed, runCli, startWorld, type World } from '../support/world.js';

const SEED = Number(process.env.LONGHAUL_TEST_SEED) || 20_261_201;
const DAMAGES = Number(process.env.LONGHAUL_DAMAGES) || 30;
const ODD = 'an odd text: \u0000 \u202e \u001b[31m';

/** A task that has ended, with what is stored in all ways, and one that waits. */
describe(`any byte of any stored file may be wrong (LONGHAUL_TEST_SEED=${SEED})`, () => {
  let world: World;
  const random = seeded(SEED);
  const folders: string[] = [];
  let tasks: string[];

  beforeAll(async () => {
    world = await startWorld();
    const worker = await world.worker();
    const works: Responder = ({ turn }) =>
      turn === 0
        ? [
            call('write_to_file', { path: 'a', content: `${ODD}\n`.repeat(3000) }),
            call('execute_command', { command: 'seq 30000', requires_approval: false }),
            call('read_file', { path: 'a' }),
            finish(),
          ]
        : done;
    const asks: Responder = () => [call('ask_followup_question', { question: ODD }), finish()];
    const ended = await world.start(await world.model({ responder: works }), {});
    const waits = await world.start(await world.model({ responder: asks }), { policy: { yolo: false, approve: [] } });
    await world.event(ended.task, isClosed);
    await world.event(waits.task, isAsk);
    await worker.stop();
    tasks = [ended.task, waits.task];
  }, 60_000);
  afterAll(async () => {
    await world?.stop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  const filesIn = (home: string) =>
    readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.log$|-shm$/.test(entry.name) && statSync(pathOf(entry)).size > 0)
      .map((entry) => relative(home, pathOf(entry)))
      .sort();
  const pathOf = ({ parentPath, name }: { parentPath: string; name: string }) => join(parentPath, name);

  /** @returns what was done, in words */
  function damage(path: string): string {
    const bytes = readFileSync(path);
    const at = Math.floor(random() * bytes.length);
    const kind = random();
    if (kind < 0.3) {
      truncateSync(path, at);
      return `cut to ${at} of ${bytes.length} bytes`;
    }
    const length = kind < 0.6 ? 1 : 1 + Math.floor(random() * 5000);
    for (let i = at; i < Math.min(at + length, bytes.length); i++) bytes[i] = Math.floor(random() * 256);
    writeFileSync(path, bytes);
    return `${length} other bytes at ${at} of ${bytes.length}`;
  }

  it('commands read what there is, or say what is wrong, and touch nothing', async () => {
    const all = filesIn(world.home);
    expect(all).toEqual(expect.arrayContaining(['journal.db', 'partials.db']));
    expect(all.some((file) => file.startsWith('blobs/'))).toBe(true);
    const problems: string[] = [];
    let refused = 0;
    for (let n = 0; n < DAMAGES; n++) {
      const home = mkdtempSync(join(tmpdir(), 'longhaul-damaged-'));
      folders.push(home);
      cpSync(world.home, home, { recursive: true });
      const file = all[n % all.length]!;
      const what = `${file}, ${damage(join(home, file))}`;
      const before = readFileSync(join(home, file));
      const env = { ...world.env, LONGHAUL_HOME: home };
      const commands = [['tasks'], ['show', tasks[n % 2]!], ['log', tasks[n % 2]!, '--full']];
      const results = await Promise.all(commands.map((args) => runCli(args, env)));
      for (const [at, { code, err }] of results.entries()) {
        const where = `${what}: ${commands[at]?.join(' ')}`;
        if (code !== 0) refused++;
        if (code !== 0 && !(code === 1 && ERROR_SLUGS.some((slug) => slug !== 'internal' && err.includes(slug)))) {
          problems.push(`${where}: ${code}, ${err}`);
        }
        if (/^\s+at .*[:(]\d+/m.test(err)) problems.push(`${where}: a stack: ${err}`);
      }
      if (!file.endsWith('-wal') && !readFileSync(join(home, file)).equals(before))
        problems.push(`${what}: was changed`);
    }
    expect(problems).toEqual([]);
    expect(refused).toBeGreaterThan(0);
  }, 240_000);
});
