import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputWriter, readHead, readKept, SEGMENT_BYTES } from './output.js';

function withDir<T>(use: (dir: string) => T): T {
  const dir = mkdtempSync(join(tmpdir(), 'longhaul-output-'));
  try {
    return use(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

test('whatever the pieces, both ends are kept, the counts are right, and at most three files stay', () => {
  const pieces = fc.array(fc.integer({ min: 0, max: 400_000 }), { maxLength: 12 });
  fc.assert(
    fc.property(pieces, (sizes) =>
      withDir((dir) => {
        const all = Buffer.alloc(sizes.reduce((sum, size) => sum + size, 0));
        for (let i = 0; i < all.length; i++) all[i] = (i * 7 + (i >> 8)) & 0xff;
        const writer = new OutputWriter(dir);
        let at = 0;
        for (const size of sizes) {
          writer.write(all.subarray(at, at + size));
          at += size;
        }
        writer.close();
        const { head, tail, gap, bytes } = readKept(dir);
        expect(bytes).toBe(all.length);
        expect(writer.lines).toBe(all.filter((byte) => byte === 10).length);
        expect(head.equals(all.subarray(0, head.length))).toBe(true);
        expect(tail.equals(all.subarray(all.length - tail.length))).toBe(true);
        expect(head.length + gap + tail.length).toBe(all.length);
        expect(head.length).toBeGreaterThanOrEqual(Math.min(all.length, SEGMENT_BYTES));
        expect(readdirSync(dir).length).toBeLessThanOrEqual(3);
      }),
    ),
    { numRuns: 40 },
  );
});

test('a follower sees what has been written so far', () =>
  withDir((dir) => {
    expect(readHead(dir, 0).length).toBe(0);
    const writer = new OutputWriter(dir);
    writer.write(Buffer.from('abc'));
    expect(readHead(dir, 1).toString()).toBe('bc');
    writer.write(Buffer.from('def'));
    expect(readHead(dir, 3).toString()).toBe('def');
    expect(readHead(dir, 6).length).toBe(0);
    writer.close();
  }));

test('a folder that cannot be written loses output, not the command', () => {
  const writer = new OutputWriter('/no/such/folder');
  writer.write(Buffer.from('a\nb\n'));
  expect({ bytes: writer.bytes, lines: writer.lines }).toEqual({ bytes: 4, lines: 2 });
});
