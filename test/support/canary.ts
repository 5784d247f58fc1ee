import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { readIgnoredFiles } from '../../src/command-policy/ignored-files.js';
import { judgeCommand } from '../../src/command-policy/judge.js';
import type { Judgement } from '../../src/command-policy/verdicts.js';
import type { CommandRules } from '../../src/domain/policy.js';

/** A folder with a workspace, and around it everything that a command must not touch. */
export class Canary {
  private readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'longhaul-canary-')));
  readonly workspace = join(this.root, 'work');
  private readonly fresh = join(this.root, 'fresh');
  private readonly home = join(this.root, 'home');
  private readonly bin = join(this.root, 'bin');
  readonly env: NodeJS.ProcessEnv;
  private before: string;

  constructor() {
    const { fresh, home, bin } = this;
    for (const dir of [fresh, home, bin, join(fresh, 'src'), join(fresh, 'test'), join(this.root, 'outside')])
      mkdirSync(dir);
    const { PATH, HOME: _, ...inherited } = process.env;
    const plain = Object.entries(inherited).filter(([name]) => !/^(GIT_|BASH|ENV$|CLINE_|LONGHAUL_|CDPATH)/.test(name));
    this.env = {
      ...Object.fromEntries(plain),
      PATH: `${bin}:${PATH}`,
      HOME: home,
      CANARY: join(this.root, 'outside'),
      GIT_PAGER: 'cat',
      PAGER: 'cat',
    };
    const script = `#!/bin/sh\necho "$0 $*" >> "${this.root}/outside/executed"\n`;
    for (const file of [join(fresh, 'canary'), join(bin, 'canary')]) {
      writeFileSync(file, script);
      chmodSync(file, 0o755);
    }
    writeFileSync(join(this.root, 'outside', 'secret.txt'), 'outside\n');
    writeFileSync(join(fresh, 'canary.txt'), 'alive\n');
    writeFileSync(join(fresh, 'package.json'), '{ "name": "x", "scripts": { "test": "./canary" } }\n');
    writeFileSync(join(fresh, 'src', 'a.ts'), 'export const a = 1; // TODO\n');
    writeFileSync(join(fresh, 'src', 'b.ts'), 'export const b = 2;\n');
    writeFileSync(join(fresh, 'test', 'a.test.ts'), 'a\n');
    writeFileSync(join(fresh, 'Makefile'), 'all:\n\t./canary\n');
    writeFileSync(join(fresh, 't.sh'), 'rm canary.txt\n');
    writeFileSync(join(fresh, 'README.md'), '# x\n');
    symlinkSync(join(this.root, 'outside'), join(fresh, 'link'));
    this.git(fresh, 'init', '-q', '-b', 'main');
    this.git(fresh, 'add', '.');
    this.git(fresh, '-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '-qm', 'first');
    this.reset();
    this.before = this.state();
  }

  /** Changes the workspace of all lines that follow, such as its `.git/config`. */
  prepare(change: (workspace: string) => void): void {
    change(this.fresh);
    this.reset();
    this.before = this.state();
  }

  async judge(line: string, rules: CommandRules[] = []): Promise<Judgement> {
    const { workspace, env } = this;
    return judgeCommand(line, { workspace, env, rules, ignored: await readIgnoredFiles(workspace), bash: true });
  }

  /** Runs a line as a task would. @returns what has changed by it, in the workspace and around it */
  run(line: string): { changed: string[]; output: string } {
    const ran = spawnSync('bash', ['-c', line], {
      cwd: this.workspace,
      env: this.env,
      input: '',
      timeout: 10_000,
      encoding: 'utf8',
    });
    const after = this.state();
    const changed = after === this.before ? [] : difference(this.before, after);
    if (changed.length > 0) this.reset();
    return { changed, output: ran.stdout + ran.stderr };
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  private git(cwd: string, ...args: string[]): void {
    const { status, stderr } = spawnSync('git', args, { cwd, env: this.env, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  }

  private reset(): void {
    rmSync(this.workspace, { recursive: true, force: true });
    rmSync(join(this.root, 'outside'), { recursive: true, force: true });
    mkdirSync(join(this.root, 'outside'));
    writeFileSync(join(this.root, 'outside', 'secret.txt'), 'outside\n');
    cpSync(this.fresh, this.workspace, { recursive: true, verbatimSymlinks: true });
  }

  /** Every file with its content; git's index may be refreshed by a command that only looks. */
  private state(): string {
    const lines: string[] = [];
    const walk = (path: string) => {
      const stats = lstatSync(path);
      const name = relative(this.root, path);
      if (name.startsWith('fresh') || /\.git\/index$/.test(name)) return;
      if (stats.isDirectory()) {
        lines.push(`${name}/`);
        for (const entry of readdirSync(path).sort()) walk(join(path, entry));
      } else {
        lines.push(
          `${name} ${stats.mode} ${stats.isSymbolicLink() ? readlinkSync(path) : stats.isFile() ? readFileSync(path, 'latin1') : 'other'}`,
        );
      }
    };
    walk(this.root);
    return lines.join('\0');
  }
}

function difference(before: string, after: string): string[] {
  const [a, b] = [before.split('\0'), after.split('\0')];
  return [
    ...b.filter((line) => !a.includes(line)),
    ...a.filter((line) => !b.includes(line)).map((line) => `gone: ${line}`),
  ];
}
