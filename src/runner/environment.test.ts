import { expect, test } from 'vitest';
import { commandEnvironment, findShell, SCRUBBED_VARIABLES } from './environment.js';

const spec = { task: 'the-task', call: 'turn:1', env: { ADDED: '1' }, scrub: ['ACME_API_KEY'], cwd: '/w' };

test('secrets do not get through, under no name', () => {
  const secrets = Object.fromEntries(SCRUBBED_VARIABLES.map((name, i) => [name, `secret-value-${i}`]));
  const own = {
    ...secrets,
    ACME_API_KEY: 'acme-secret',
    COPY: 'Bearer acme-secret',
    PATH: '/bin',
    OTHER_API_KEY: 'kept',
  };
  const env = commandEnvironment(own, spec);
  expect(JSON.stringify(env)).not.toMatch(/secret/);
  expect(env).toMatchObject({ PATH: '/bin', OTHER_API_KEY: 'kept', ADDED: '1' });
});

test('an empty or very short secret takes no other variable along', () => {
  const env = commandEnvironment({ ANTHROPIC_API_KEY: '', ACME_API_KEY: 'a', HOME: '/home/a' }, spec);
  expect(env.HOME).toBe('/home/a');
  expect(env).not.toHaveProperty('ACME_API_KEY');
});

test('pagers, editors and prompts are off, also where the worker has its own; markers are set', () => {
  const env = commandEnvironment(
    { PAGER: 'less', EDITOR: 'vi', TERM: 'xterm', NODE_CHANNEL_FD: '3', LONGHAUL_CALL: 'outer' },
    spec,
  );
  expect(env).toMatchObject({
    PAGER: 'cat',
    EDITOR: 'true',
    TERM: 'dumb',
    GIT_TERMINAL_PROMPT: '0',
    PWD: '/w',
    LONGHAUL_CALL: 'turn:1',
    LONGHAUL_TASK: 'the-task',
  });
  expect(env).not.toHaveProperty('NODE_CHANNEL_FD');
});

test('the shell is bash where there is one', () => {
  expect(findShell('/bin:/usr/bin')).toMatch(/\/bash$/);
});
