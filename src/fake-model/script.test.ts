import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LonghaulError } from '../domain/errors.js';
import { parseScript, readScript, script } from './script.js';
import * as s from './steps.js';

function turnsOf(text: string) {
  return parseScript(text).branches[0]?.turns;
}

describe('script', () => {
  it('reads every kind of line', () => {
    const text = `
      # a comment
      think Let me see.
      say Looking.
      call read_file {"path":"a.ts"}
      call list
      finish

      redacted secret
      id toolu_twice
      call x {"a":1}
      callraw y {"a":
      pace 20ms
      delay 1.5s
      ping 4 15s
      ping
      usage {"input_tokens":9,"output_tokens":50}
      raw {"type":"content_block_stop","index":0}
      finish end_turn

      status 429 retry-after=2 x2
      overloaded x1
      error rate_limit_error
      html 502
      half call write {"a":"b"}
      max_tokens
      refusal
      pause_turn
      empty
      cut
      close
      stall
      server web_search {"query":"q"}
      finish pause_turn x3
      finish
    `;
    expect(turnsOf(text)).toEqual([
      [s.think('Let me see.'), s.say('Looking.'), s.call('read_file', { path: 'a.ts' }), s.call('list'), s.finish()],
      [
        s.redacted('secret'),
        s.call('x', { a: 1 }, { id: 'toolu_twice' }),
        s.callraw('y', '{"a":'),
        s.pace(20),
        s.delay(1500),
        s.ping(4, 15_000),
        s.ping(),
        s.usage({ input_tokens: 9, output_tokens: 50 }),
        s.raw({ type: 'content_block_stop', index: 0 }),
        s.finish('end_turn'),
      ],
      [s.status(429, { 'retry-after': '2' }, 2), s.overloaded(1), s.error('rate_limit_error')],
      [s.html(502)],
      [s.call('write', { a: 'b' }, { half: true }), s.finish('max_tokens')],
      [s.finish('refusal')],
      [s.finish('pause_turn')],
      [s.empty()],
      [s.cut()],
      [s.close()],
      [s.stall()],
      [s.server('web_search', { query: 'q' }), s.finish('pause_turn', 3), s.finish()],
    ]);
  });

  it('repeats, counting from 1, also inside a repeat', () => {
    const turns = turnsOf(
      'repeat 2\ncall a {"n":{{i}}}\nfinish\nend\nrepeat 2\nrepeat 2\nsay x{{i}}\nend\nfinish\nend',
    );
    expect(turns).toEqual([
      [s.call('a', { n: 1 }), s.finish()],
      [s.call('a', { n: 2 }), s.finish()],
      [s.say('x1'), s.say('x2'), s.finish()],
      [s.say('x1'), s.say('x2'), s.finish()],
    ]);
  });

  it('keeps a script for each kind of conversation', () => {
    const { branches } = parseScript('for /child/i\nsay c\nfinish\nfor /./\nsay p\nfinish');
    expect(branches.map(({ match }) => match)).toEqual([/child/i, /./]);
    expect(branches[1]?.turns).toEqual([[s.say('p'), s.finish()]]);
  });

  it('is the same whether built or written', () => {
    const built = script(s.say('a'), s.cut(1), s.finish(), s.say('b'));
    expect(built).toEqual(parseScript('say a\ncut x1\nfinish\nsay b\nfinish'));
  });

  it('reads back any text that was written as JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(turnsOf(`say ${JSON.stringify(text)}\nfinish`)).toEqual([[s.say(text), s.finish()]]);
      }),
    );
  });

  it.each([
    ['say a\nsya b\nfinish', 2, '"sya" is not a step'],
    ['say\nfinish', 1, 'say ""'],
    ['say a\nfinish\nsay b', 4, 'has no end'],
    ['finish because', 1, 'not a stop reason'],
    ['finish end_turn x1 more', 1, 'does not take "more"'],
    ['call\nfinish', 1, 'name of a tool'],
    ['call {"a":1}\nfinish', 1, 'name of a tool'],
    ['call x {"a":}\nfinish', 1, 'not JSON'],
    ['call x [1]\nfinish', 1, 'JSON object'],
    ['raw {"index":1}\nfinish', 1, '"type"'],
    ['delay 5\nfinish', 1, 'not a time'],
    ['ping many\nfinish', 1, 'number of pings'],
    ['usage {"tokens":1}\nfinish', 1, 'not a usage number'],
    ['usage {"input_tokens":-1}\nfinish', 1, 'whole number'],
    ['status 200', 1, 'HTTP error status'],
    ['status 429 later', 1, 'not a header'],
    ['error no_such_error', 1, 'overloaded_error'],
    ['cut now', 1, 'does not take'],
    ['say a\nstatus 500', 2, 'before everything else'],
    ['say a\nempty', 2, 'before everything else'],
    ['half finish', 1, '"half" goes before'],
    ['half', 1, 'not a step'],
    ['id toolu_a\nsay x\nfinish', 1, 'directly before call'],
    ['id a b\ncall x\nfinish', 1, 'one id'],
    ['repeat 2\nsay a\nfinish', 1, 'has no "end"'],
    ['repeat x\nend', 1, 'a number from'],
    ['repeat 999999\nsay a\nfinish\nend', 1, 'more than'],
    ['say a\nfinish\nend', 3, 'without "repeat"'],
    ['for child\nsay a\nfinish', 1, 'needs a pattern'],
    ['for /(/\nsay a\nfinish', 1, 'Invalid regular expression'],
    ['# nothing\n\n', 1, 'no answer'],
  ])('refuses %j, naming line %i', (text, line, reason) => {
    const err = caught(() => parseScript(text, 'model.script'));
    expect(err.slug).toBe('bad-script');
    expect(err.message).toContain(`model.script, line ${line}: `);
    expect(err.message).toContain(reason);
    expect(err.next).not.toBe('');
  });

  it('reads a file, and says when it cannot', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'script-'));
    await writeFile(join(dir, 'a.script'), 'say a\r\nfinish\r\n');
    expect(await readScript(join(dir, 'a.script'))).toEqual(script(s.say('a'), s.finish()));
    await expect(readScript(join(dir, 'none.script'))).rejects.toMatchObject({ slug: 'bad-script' });
  });
});

function caught(work: () => unknown): LonghaulError {
  try {
    work();
  } catch (err) {
    if (LonghaulError.is(err)) return err;
    throw err;
  }
  throw new Error('nothing was thrown');
}
