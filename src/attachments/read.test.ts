import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makePng } from '../fake-model/image.js';
import { hasPixels } from './image.js';
import { MAX_IMAGE_BASE64, MAX_IMAGE_BYTES } from './limits.js';
import { type AttachRequest, readAttachments } from './read.js';

const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

describe('readAttachments', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'longhaul-attach-')));
  const workspace = join(folder, 'ws');
  mkdirSync(join(workspace, 'src'), { recursive: true });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const file = (name: string, content: string | Buffer) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const read = (request: AttachRequest, textBytes = 10) => readAttachments(request, workspace, textBytes);
  const refusal = (request: AttachRequest, textBytes?: number) =>
    read(request, textBytes).then(
      () => 'accepted',
      (err: { slug: string; message: string }) => `${err.slug}: ${err.message.replaceAll(folder, '')}`,
    );

  it('tells what a file is by its content, and names it by its place in the workspace', async () => {
    const images = [file('shot.txt', makePng(3, 2)), file('ws/src/logo', GIF)];
    const files = [
      file('ws/src/a.ts', 'const a = 1;\n'),
      file('notes.png', 'plain text'),
      file('win', Buffer.from('K\xe4se', 'latin1')),
    ];
    expect(await read({ images, files })).toEqual([
      { kind: 'image', name: 'shot.txt', mediaType: 'image/png', content: makePng(3, 2) },
      { kind: 'image', name: 'src/logo', mediaType: 'image/gif', content: GIF },
      { kind: 'file', name: 'src/a.ts', content: 'const a = 1;\n' },
      { kind: 'file', name: 'notes.png', content: 'plain text' },
      { kind: 'file', name: 'win', content: 'Käse' },
    ]);
  });

  it('refuses what is not there, not regular, empty, or not what the flag takes', async () => {
    const png = makePng(30, 20);
    const damaged = Buffer.from(png);
    damaged[60] = (damaged[60] ?? 0) ^ 1;
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const cases: [AttachRequest, string][] = [
      [{ images: [join(folder, 'none.png')] }, 'The image /none.png does not exist.'],
      [{ images: [workspace] }, 'The image /ws is a folder.'],
      [{ files: [join(folder, 'pipe')] }, 'The file /pipe is no regular file.'],
      [{ images: ['/dev/zero'] }, 'The image /dev/zero is no regular file.'],
      [{ files: [file('empty', '')] }, 'The file /empty is empty.'],
      [
        { images: [file('text.png', 'not an image')] },
        'The image /text.png is no PNG, JPEG, GIF or WebP image, or is cut or damaged. A text goes with --file.',
      ],
      [
        { images: [file('cut.png', png.subarray(0, -20))] },
        'The image /cut.png is no PNG, JPEG, GIF or WebP image, or is cut or damaged.',
      ],
      [
        { images: [file('damaged.png', damaged)] },
        'The image /damaged.png is no PNG, JPEG, GIF or WebP image, or is cut or damaged.',
      ],
      [
        { files: [file('shot2.txt', png)] },
        'The file /shot2.txt is a PNG image, not text. An image goes with --image.',
      ],
      [{ files: [file('zeros', Buffer.alloc(100))] }, 'The file /zeros is a binary file, not text.'],
      [
        { images: [file('wide.png', makePng(8001, 1))] },
        'The image /wide.png is 8001 × 1 px; 8000 px a side are the limit.',
      ],
      [
        { images: [file('large.png', Buffer.alloc(10_000_000))] },
        'The image /large.png is larger than 3,932,160 bytes.',
      ],
      [{ files: [file('large.txt', 'x'.repeat(400_001))] }, 'The file /large.txt is larger than 400,000 bytes.'],
    ];
    for (const [request, message] of cases) expect(await refusal(request)).toBe(`bad-attachment: ${message}`);
  });

  it('refuses too many, and too much together', async () => {
    const [image, text] = [file('one.png', makePng(1, 1)), file('half.txt', 'x'.repeat(200_000))];
    const many = Array.from({ length: 21 }, () => image);
    expect(await refusal({ images: many })).toContain('21 images are too many; 20 may go');
    expect(await refusal({ files: many })).toContain('21 files are too many; 20 may go');
    expect(await refusal({ files: [text] }, 200_000)).toBe('accepted');
    expect(await refusal({ files: [text] }, 200_001)).toContain('400,001 bytes together; 400,000 bytes are the limit');
    const noise = file('noise.gif', Buffer.concat([GIF.subarray(0, -1), Buffer.alloc(3_900_000, 1), Buffer.from(';')]));
    expect(await refusal({ images: [noise, noise, noise] })).toBe('accepted');
    expect(await refusal({ images: [noise, noise, noise, noise] })).toContain(
      'together; 15,000,000 bytes are the limit',
    );
  });

  it('follows links that people name, and gives no path outside the workspace away', async () => {
    copyFileSync(file('real.png', makePng(2, 2)), join(workspace, 'inside.png'));
    symlinkSync(join(workspace, 'inside.png'), join(folder, 'link'));
    const read2 = await read({ images: [join(folder, 'link'), join(folder, 'real.png')] });
    expect(read2.map(({ name }) => name)).toEqual(['inside.png', 'real.png']);
  });

  it('knows a PNG whose structure is whole and whose pixels are not', async () => {
    expect(await hasPixels(makePng(50, 40))).toBe(true);
    const [small, large] = [makePng(3, 3), makePng(300, 300)];
    // the header of one with the pixels of the other
    const header = large.subarray(0, 33);
    expect(await hasPixels(Buffer.concat([header, small.subarray(33)]))).toBe(false);
  });

  it('has a limit for images that base64 does not take over that of the API', () => {
    expect(Buffer.alloc(MAX_IMAGE_BYTES).toString('base64').length).toBeLessThanOrEqual(MAX_IMAGE_BASE64);
  });
});
