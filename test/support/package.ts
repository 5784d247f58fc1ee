import { execFile, spawn } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './world.js';

const exec = promisify(execFile);

export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

export interface RunOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  uid?: number | undefined;
}

/** A new folder that other users can read. */
export function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul package '));
  chmodSync(folder, 0o755);
  return folder;
}

/** Packs this checkout as `npm publish` does. @returns path of the tarball */
export async function pack(into: string): Promise<string> {
  await npm(['pack', '--pack-destination', into], ROOT);
  return tarballIn(into);
}

/** Packs what a tarball holds as another version. @returns path of the new tarball */
export async function repack(tarball: string, version: string, into: string): Promise<string> {
  mkdirSync(into);
  await exec('tar', ['-xzf', tarball, '-C', into]);
  const folder = join(into, 'package');
  const file = join(folder, 'package.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), version }));
  await npm(['pack', '--ignore-scripts', '--pack-destination', into], folder);
  return tarballIn(into);
}

export async function installGlobally(tarball: string, prefix: string, ...flags: string[]): Promise<void> {
  await npm(['install', '--global', '--prefix', prefix, ...QUIETLY, ...flags, tarball], tmpdir());
}

/** A package from the registry in a folder of its own. @returns its folder, or why there is none */
export async function fetched(spec: string, name: string, into: string): Promise<{ folder: string } | { why: string }> {
  try {
    mkdirSync(into, { recursive: true });
    await npm(['install', '--prefix', into, '--no-save', '--ignore-scripts', ...QUIETLY, spec], into);
    return { folder: join(into, 'node_modules', name) };
  } catch (err) {
    const said = err instanceof Error ? err.message.trim().split('\n') : [];
    return { why: `npm cannot install ${spec}: ${said.find((line) => line.includes('npm error')) ?? said[0]}` };
  }
}

/** Node of that major version: this process's own, else one from the registry. @returns its path, or why there is none */
export async function nodeOf(major: number, into: string): Promise<{ path: string } | { why: string }> {
  if (Number(process.versions.node.split('.')[0]) === major) return { path: process.execPath };
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const found = await fetched(`${name}@${major}`, name, join(into, `node${major}`));
  return 'why' in found ? found : { path: join(found.folder, 'bin', 'node') };
}

const QUIETLY = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];

export async function npm(args: string[], cwd: string): Promise<string> {
  const { stdout } = await exec('npm', args, { cwd, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

export function run(command: string, args: string[], { cwd, env, uid }: RunOptions): Promise<Ran> {
  return new Promise((done, failed) => {
    const as = uid === undefined ? {} : { uid, gid: uid };
    const child = spawn(command, args, { cwd, env, ...as, stdio: ['ignore', 'pipe', 'pipe'] });
    const ran: Ran = { code: null, out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      ran.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      ran.err += text;
    });
    child.once('error', failed);
    child.once('close', (code) => done({ ...ran, code }));
  });
}

/** The scripted model that ships, in a process of its own: so many tool calls, then the end. */
export function startShippedModel(node: string, installed: string, args: string[], { cwd, env, uid }: RunOptions) {
  const as = uid === undefined ? {} : { uid, gid: uid };
  const main = join(installed, 'dist', 'fake-model', 'main.js');
  const child = spawn(node, [main, ...args], { cwd, env, ...as, stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise<void>((done) => child.once('close', () => done()));
  const url = new Promise<string>((found, failed) => {
    child.stdout.setEncoding('utf8').once('data', (line: string) => found((JSON.parse(line) as { url: string }).url));
    child.once('error', failed);
    child.once('close', (code) => failed(new Error(`the scripted model ended with ${code}`)));
  });
  const end = async (): Promise<void> => {
    child.kill();
    await gone;
  };
  return { url, end };
}

/** Files below a folder, without those of packages it depends on. */
export function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesOf(path);
    return [path];
  });
}

/** A copy that every user can run. */
export function copyForAll(path: string, into: string): string {
  cpSync(path, into);
  chmodSync(into, 0o755);
  return into;
}

/** Takes the right to write from everybody, or gives it back to the owner. */
export function setWritable(folder: string, writable: boolean): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isSymbolicLink()) continue;
    if (entry.isDirectory()) setWritable(path, writable);
  }
  const { mode } = statSync(folder);
  chmodSync(folder, writable ? mode | 0o200 : mode & ~0o222);
}

function tarballIn(folder: string): string {
  const name = readdirSync(folder).find((one) => one.endsWith('.tgz'));
  if (name === undefined) throw new Error(`npm pack left no tarball in ${folder}`);
  return join(folder, name);
}
