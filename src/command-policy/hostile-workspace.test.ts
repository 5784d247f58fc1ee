// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts for a shell
import { spawnSync } from 'node:child_process';
import { appendFileSync, chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Canary } from '../../test/support/canary.js';

/** A repository that comes with settings which run `./canary`, and the command that would. */
const SETTINGS: [name: string, command: string, change: (workspace: string) => void][] = [
  ['core.fsmonitor', 'git status', (dir) => config(dir, '[core]\n\tfsmonitor = ./canary\n')],
  [
    'a filter',
    'git status',
    (dir) => {
      config(dir, '[filter "x"]\n\tclean = ./canary; cat\n');
      writeFileSync(join(dir, '.gitattributes'), '* filter=x\n');
      appendFileSync(join(dir, 'README.md'), 'more\n');
    },
  ],
  [
    'a text conversion',
    'git log -p',
    (dir) => {
      config(dir, '[diff "x"]\n\ttextconv = ./canary\n');
      writeFileSync(join(dir, '.gitattributes'), '* diff=x\n');
    },
  ],
  [
    'an external diff',
    'git diff',
    (dir) => {
      config(dir, '[diff]\n\texternal = ./canary\n');
      appendFileSync(join(dir, 'README.md'), 'more\n');
    },
  ],
  [
    'hooks in another folder',
    'git status',
    (dir) => {
      config(dir, '[core]\n\thooksPath = githooks\n');
      mkdirSync(join(dir, 'githooks'));
      cpSync(join(dir, 'canary'), join(dir, 'githooks', 'post-index-change'));
      appendFileSync(join(dir, 'README.md'), 'more\n');
    },
  ],
  [
    'a hook of its own',
    'git status',
    (dir) => {
      mkdirSync(join(dir, '.git', 'hooks'), { recursive: true });
      cpSync(join(dir, 'canary'), join(dir, '.git', 'hooks', 'post-index-change'));
      appendFileSync(join(dir, 'README.md'), 'more\n');
    },
  ],
  [
    'an included file',
    'git status',
    (dir) => {
      config(dir, '[include]\n\tpath = ../more.config\n');
      writeFileSync(join(dir, 'more.config'), '[core]\n\tfsmonitor = ./canary\n');
    },
  ],
  [
    'another program for signatures',
    'git log',
    (dir) => {
      config(dir, '[gpg]\n\tprogram = ./canary\n[log]\n\tshowSignature = true\n');
    },
  ],
  [
    'a submodule with settings of its own',
    'git status',
    (dir) => {
      const run = (...args: string[]) =>
        spawnSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], { cwd: join(dir, 'sub') });
      mkdirSync(join(dir, 'sub'));
      run('init', '-q');
      run('commit', '-q', '--allow-empty', '-m', 'x');
      spawnSync('git', ['add', 'sub'], { cwd: dir });
      appendFileSync(join(dir, 'sub', '.git', 'config'), `[core]\n\tfsmonitor = ${dir}/canary\n`);
    },
  ],
];

function config(dir: string, text: string): void {
  appendFileSync(join(dir, '.git', 'config'), text);
}

describe('a repository that brings', () => {
  it.each(SETTINGS)('%s is not looked at with git unasked', async (_name, command, change) => {
    using canary = new Canary();
    expect((await canary.judge(command)).verdict).toBe('unasked');
    canary.prepare(change);
    expect((await canary.judge(command)).verdict).toBe('ask');
    expect((await canary.judge(`ls && ${command} | head`)).verdict).toBe('ask');
    expect((await canary.judge('ls && cat README.md')).verdict).toBe('unasked');
  });

  it.each(SETTINGS.slice(0, 6))('%s would run its program', (_name, command, change) => {
    using canary = new Canary();
    canary.prepare(change);
    expect(canary.run(command).changed.join()).toContain('executed');
  });

  it('settings of its own in a folder below is asked about there', async () => {
    using canary = new Canary();
    canary.prepare((dir) => {
      spawnSync('git', ['init', '-q', 'below'], { cwd: dir });
      config(join(dir, 'below'), '[core]\n\tfsmonitor = ./canary\n');
    });
    expect((await canary.judge('git status')).verdict).toBe('unasked');
    for (const line of [
      'cd below && git status',
      'cd below; git status',
      '(cd below && git status)',
      'ls && cd below && git diff',
    ]) {
      expect((await canary.judge(line)).verdict).toBe('ask');
    }
  });

  it('what every repository has, is no reason to ask', async () => {
    using canary = new Canary();
    canary.prepare((dir) => {
      config(
        dir,
        '[remote "origin"]\n\turl = x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n',
      );
      config(dir, '[user]\n\tname = x\n[pull]\n\trebase = true\n[core]\n\tautocrlf = input\n');
    });
    expect((await canary.judge('git status')).verdict).toBe('unasked');
  });
});

describe('PATH', () => {
  it.each(['', '.', 'node_modules/.bin', 'WORKSPACE/bin', 'WORKSPACE/../link-to-bin'])(
    'with %j in it makes no program of the workspace safe',
    async (entry) => {
      using canary = new Canary();
      const bin = join(canary.workspace, 'bin');
      canary.prepare((dir) => {
        mkdirSync(join(dir, 'bin'));
        writeFileSync(join(dir, 'bin', 'ls'), '#!/bin/sh\n./canary\n');
        chmodSync(join(dir, 'bin', 'ls'), 0o755);
      });
      if (entry.endsWith('link-to-bin')) symlinkSync(bin, join(canary.workspace, '..', 'link-to-bin'));
      canary.env.PATH = [entry.replace('WORKSPACE', canary.workspace), canary.env.PATH].join(delimiter);
      expect((await canary.judge('ls')).verdict).toBe('ask');
      expect((await canary.judge('pwd')).verdict).toBe('unasked');
    },
  );
});

it('PATH is looked at for what runs others, too', async () => {
  using canary = new Canary();
  canary.prepare((dir) => {
    mkdirSync(join(dir, 'bin'));
    for (const name of ['timeout', 'env', 'xargs', 'bash', 'nice']) {
      writeFileSync(join(dir, 'bin', name), '#!/bin/sh\n./canary\n');
      chmodSync(join(dir, 'bin', name), 0o755);
    }
  });
  canary.env.PATH = [join(canary.workspace, 'bin'), canary.env.PATH].join(delimiter);
  for (const line of ['timeout 5 ls', 'env ls', 'ls | xargs ls', 'bash -c ls', 'nice ls']) {
    expect([line, (await canary.judge(line)).verdict]).toEqual([line, 'ask']);
  }
});

it('names of files that would be options are seen before a pattern is expanded', async () => {
  using canary = new Canary();
  expect((await canary.judge('sort *.md | head')).verdict).toBe('unasked');
  expect((await canary.judge('grep x *.md')).verdict).toBe('unasked');
  canary.prepare((dir) => writeFileSync(join(dir, '-ocanary.txt'), ''));
  for (const line of ['sort *', 'grep x *', 'cat *', 'sort ?ocanary.txt']) {
    expect([line, (await canary.judge(line)).verdict]).toEqual([line, 'ask']);
  }
  expect((await canary.judge('sort ./*.txt')).verdict).toBe('unasked');
});

describe('.clineignore', () => {
  const lines = [
    'cat .env',
    'cat ./.env',
    'cat src/../.env',
    'cat "$PWD/.env" .env',
    'head -1 < .env',
    'cat .e*',
    'cat .en?',
    'cat .[e]nv',
    'cat {.env,README.md}',
    "cat '.e'nv",
    'cat \\.env',
    "cat $'.\\x65nv'",
    'grep x -f .env README.md',
    'cp .env x',
    'mv .env x',
    'rm .env',
    'node .env',
    'curl -d @.env http://127.0.0.1:1',
    'dd if=.env',
    'tar -cf x.tar .env',
    'python3 -c 1 .env',
    'cat to-env',
    'cat secrets/key',
    'cat secrets/*',
    'ls secrets',
    'cd secrets',
    'cd secrets && cat key',
    'cd src && cat ../.env',
    'bash -c "cat .env"',
    'timeout 5 cat .env',
    'echo $(cat .env)',
    'cat README.md .env',
    'echo x > .env',
    'cat .clineignore',
    'cat included.txt',
    'base64 --wrap=0 .env',
    'grep --file=.env README.md',
    'bash .env',
    '. ./.env',
  ];
  const ignored = (dir: string) => {
    writeFileSync(join(dir, '.clineignore'), '.env\nsecrets/\n!include more.ignore\n');
    writeFileSync(join(dir, 'more.ignore'), 'included.txt\n');
    writeFileSync(join(dir, '.env'), 'secret\n');
    mkdirSync(join(dir, 'secrets'));
    writeFileSync(join(dir, 'secrets', 'key'), 'secret\n');
    symlinkSync('.env', join(dir, 'to-env'));
  };

  it.each(lines)('%j is denied, whatever is approved', async (line) => {
    using canary = new Canary();
    canary.prepare(ignored);
    const judged = await canary.judge(line);
    expect(judged).toMatchObject({
      verdict: 'denied',
      reasons: expect.arrayContaining([
        expect.objectContaining({ why: expect.stringContaining('.clineignore keeps') }),
      ]),
    });
  });

  it('what only names such a file runs; what reads whole folders is asked about', async () => {
    using canary = new Canary();
    canary.prepare(ignored);
    for (const line of ['ls -a', 'echo .env', "grep -n '.env' README.md", 'cat README.md', 'git status']) {
      expect([line, (await canary.judge(line)).verdict]).toEqual([line, 'unasked']);
    }
    for (const line of ['grep -r x .', 'rg x', 'git grep x', 'cat $x', 'ls;;']) {
      expect([line, (await canary.judge(line)).verdict]).toEqual([line, 'ask']);
    }
  });
});
