// biome-ignore-all lint/suspicious/noTemplateCurlyInString: texts for a shell
import { afterAll, describe, expect, it } from 'vitest';
import { Canary } from '../../test/support/canary.js';
import { PAYLOADS, WRAPPED } from '../../test/support/canary-lines.js';
import type { CommandRules } from '../domain/policy.js';

const canary = new Canary();
afterAll(() => canary[Symbol.dispose]());

const verdict = async (line: string, ...rules: CommandRules[]) => (await canary.judge(line, rules)).verdict;

describe('an allow list', () => {
  const allow = ['git status', 'echo *', 'cat *', 'ls *', 'npm test'];

  it.each([
    'git status',
    'git  status',
    'git "status"',
    'echo a b',
    'echo',
    'ls',
    'ls | cat',
    'ls && git status; echo x',
    'echo "a; rm x"',
    "echo 'a && rm x'",
    'echo $(ls)',
    'npm test',
    'timeout 60 npm test',
    'nice npm test',
    'time npm test',
    'NODE_ENV=test npm test',
    'DEBUG=x npm test',
    'env CI=1 npm test',
    "bash -c 'npm test'",
    'npm test 2>&1 | cat',
    'npm test 2>/dev/null',
    'cat < README.md',
    'cat <<EOF\nx\nEOF',
    '(ls; ls)',
    'for x in a; do echo $x; done',
    'echo $x',
    'ls $(echo src)',
    'ls | xargs echo',
    '/bin/ls x'.replace('/bin/', ''),
  ])('lets %j through', async (line) => {
    expect(await verdict(line, { allow })).not.toBe('denied');
  });

  it.each([
    'rm canary.txt',
    'git status --short',
    'git',
    'git push',
    'npm test -- x',
    'npm run x',
    'npm testx',
    'lsx',
    './ls',
    '/bin/ls',
    '/tmp/npm test',
    'ls; rm x',
    'ls | tee x',
    'ls || rm x',
    'ls & rm x',
    'ls\nrm x',
    'echo $(rm x)',
    'echo `rm x`',
    'cat <(rm x)',
    'echo x > y',
    'echo x >> y',
    'ls 2> y',
    'PATH=. npm test',
    'LD_PRELOAD=x ls',
    'NODE_OPTIONS=x npm test',
    'GIT_PAGER=x git status',
    'env PATH=. npm test',
    'sudo npm test',
    'sudo ls',
    "bash -lc 'npm test'",
    "sh -c 'npm test'",
    'npm() { rm x; }; npm test',
    'alias npm=rm; npm test',
    '$x',
    'git "status --short"',
    "git 'status *'",
    'eval ls',
    'xargs rm',
    'ls | xargs npm test',
    'ssh host ls',
    'ls;;',
    'ls\r',
    "x='a[$(rm x)]'; echo $((x))",
    'find . -exec ls {} +',
    'source x',
    'export PATH=x',
    'cd src',
    'hash -p x ls; ls',
    'trap ls EXIT',
    'exec ls',
    'echo ${x:=$(rm x)}',
    ': > x',
    '> x',
  ])('denies %j', async (line) => {
    expect(await verdict(line, { allow })).toBe('denied');
  });

  it('keeps every wrapped payload away from everything, also where all commands are approved', async () => {
    const wrong: string[] = [];
    for (const line of WRAPPED.flatMap((wrap) => PAYLOADS.map((payload) => wrap(payload)))) {
      if ((await verdict(line, { allow, allowRedirects: false })) !== 'denied') wrong.push(line);
    }
    expect(wrong).toEqual([]);
  });

  it('takes an explicit name for a command that runs others', async () => {
    expect(await verdict('sudo ls', { allow: ['sudo ls'] })).toBe('ask');
    expect(await verdict('node -e 1', { allow: ['node *'] })).toBe('ask');
    expect(await verdict('node -e 1', { allow: ['node *'], deny: ['node -e *'] })).toBe('denied');
    expect(await verdict('echo x > y', { allow: ['echo *'], allowRedirects: true })).toBe('ask');
  });

  it('that is empty lets nothing through', async () => {
    expect(await verdict('ls', { allow: [] })).toBe('denied');
  });
});

describe('a deny list', () => {
  const rules = { deny: ['rm *', 'git push *', 'curl *', 'canary *', './canary *', 'touch *'], allowRedirects: false };

  it.each([
    'rm x',
    '{rm,x}',
    'rm',
    'rm -rf x',
    '/bin/rm x',
    'r\\m x',
    '"rm" x',
    "$'rm' x",
    'ls; rm x',
    'ls && rm x',
    'echo $(rm x)',
    'sudo rm x',
    'sudo -u root rm x',
    'env rm x',
    'env A=1 rm x',
    'nice -n 5 rm x',
    'timeout 5 rm x',
    'nohup rm x',
    'xargs rm',
    'ls | xargs -0 rm -f',
    'find . -exec rm {} +',
    "bash -c 'rm x'",
    "sh -c 'ls; rm x'",
    'eval rm x',
    "eval 'rm x'",
    'command rm x',
    'exec rm x',
    'busybox rm x',
    'ssh host rm x',
    'watch rm x',
    'f() { rm x; }; f',
    'if true; then rm x; fi',
    'git push',
    'git push origin main',
    'curl http://x',
    'x=$(curl http://x)',
    'trap "rm x" EXIT',
    'npx rm x',
    'doas rm x',
    'setsid rm x',
    'bash -c "bash -c \'rm x\'"',
    'echo x > y',
    'coproc rm x',
    'time rm x',
    '! rm x',
  ])('denies %j', async (line) => {
    expect(await verdict(line, rules)).toBe('denied');
  });

  it.each([
    '$x y',
    '"$cmd"',
    '$(echo rm) x',
    'r$x y',
    'bash -c "$x"',
    'eval "$x"',
    'cat x | bash',
    'python3 -c 1',
    'perl -e 1',
    'node -e 1',
    'git -c alias.x=!rm x',
    'alias x=rm',
    'PATH=. x',
    'ls;;',
    'xargs -X rm',
    'env -S x',
    'source x',
    'parallel x',
    '/bin/r? x',
    'find . -exec $x {} +',
    "x='a[$(rm x)]'; echo $((x))",
    'IFS=x; y',
    'ls\u00a0',
    'git bisect run x',
    'enable -f x y',
    'bash < x',
    'timeout -Z 5 rm x',
  ])('leaves %j to a person, also under --yolo', async (line) => {
    expect(await canary.judge(line, [rules])).toMatchObject({ verdict: 'ask', person: true });
  });

  it.each([
    'npm test',
    'make',
    'node x.js',
    'git pull',
    'ls',
    'rmdir x',
    'echo rm x',
    'grep "rm x" y',
    'cp a b',
    'bash x.sh',
    'cd x && make',
  ])('has nothing against %j', async (line) => {
    const judged = await canary.judge(line, [rules]);
    expect(judged.verdict === 'ask' ? judged.person : judged.verdict === 'denied').toBe(false);
  });

  it('keeps every wrapped payload from running where all commands are approved', async () => {
    const wrong: string[] = [];
    for (const line of WRAPPED.flatMap((wrap) => PAYLOADS.map((payload) => wrap(payload)))) {
      const judged = await canary.judge(line, [rules]);
      if (judged.verdict === 'unasked' || (judged.verdict === 'ask' && !judged.person)) wrong.push(line);
    }
    expect(wrong).toEqual([]);
  });
});

describe('rules', () => {
  it('from several places have to agree', async () => {
    expect(await verdict('ls', { allow: ['ls'] }, { deny: ['ls'] })).toBe('denied');
    expect(await verdict('ls', { allow: ['ls'] }, { allow: ['pwd'] })).toBe('denied');
    expect(await verdict('ls', { allow: ['ls'] }, { allow: ['l?'] })).toBe('unasked');
  });

  it('deny goes before allow, and say which pattern it was', async () => {
    expect(await canary.judge('ls && npm run x', [{ allow: ['*'], deny: ['npm run *'] }])).toEqual({
      verdict: 'denied',
      reasons: [{ command: 'npm run x', why: 'a rule denies "npm run *"' }],
    });
  });

  it('name what runs unasked besides, each command by itself', async () => {
    const rules = { unasked: ['npm test', 'npm run lint *', 'make check'], allowRedirects: true };
    for (const line of [
      'npm test',
      'npm test | tail -5',
      'cd src && make check',
      'npm run lint -- --quiet',
      'timeout 60 npm test',
      'CI=1 npm test',
    ]) {
      expect([line, await verdict(line, rules)]).toEqual([line, 'unasked']);
    }
    for (const line of [
      'npm test; npm install',
      'npm test > x',
      'npm test "$(rm x)"',
      'npm testx',
      'PATH=. npm test',
      'sudo npm test',
      'make checkx',
      'npm run lint $(rm x)',
      'npm() { rm x; }; npm test',
    ]) {
      expect([line, await verdict(line, rules)]).toEqual([line, 'ask']);
    }
  });

  it('patterns: any text, one character, nothing else is special', async () => {
    for (const [pattern, line, fits] of [
      ['git*', 'git status', true],
      ['git *', 'git', true],
      ['git *', 'gitk', false],
      ['g?t status', 'git status', true],
      ['a.b', 'axb', false],
      ['a.b', 'a.b', true],
      ['*', 'x y', true],
      ['a+ (b) [c] {d} $', "a+ '(b)' '[c]' '{d}' '$'", true],
      ['cat */x', 'cat a/b/x', true],
      ['', 'ls', false],
      ['  ls   -l ', 'ls -l', true],
    ] as const) {
      expect([pattern, line, await verdict(line, { deny: [pattern] })]).toEqual([
        pattern,
        line,
        fits ? 'denied' : expect.not.stringContaining('denied'),
      ]);
    }
  });
});
