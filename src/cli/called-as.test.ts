import { join } from 'node:path';
import { expect, it } from 'vitest';
import { errorPage } from '../domain/errors.js';
import { packageRoot } from '../service/package.js';
import { calledAs, pathFrom, withCommand } from './called-as.js';

it('names the command as it was called', () => {
  expect(calledAs('/usr/local/bin/longhaul', '/home/me')).toBe('longhaul');
  expect(calledAs('/home/me/lh/bin/longhaul.js', '/home/me/lh')).toBe('node bin/longhaul.js');
  expect(calledAs('/home/me/lh/bin/longhaul.js', '/home/me/src')).toBe('node ../lh/bin/longhaul.js');
  expect(calledAs('/opt/lh/bin/longhaul.js', '/home/me/a/b/c/d')).toBe('node /opt/lh/bin/longhaul.js');
  expect(calledAs("/home/me/my lh's/bin/longhaul.js", '/home/me')).toBe("node 'my lh'\\''s/bin/longhaul.js'");
});

it('names the script of this package where another one of it runs', () => {
  const root = packageRoot.replace(/\/$/, '');
  expect(calledAs(join(root, 'dist', 'cli', 'demo.js'), root)).toBe('node bin/longhaul.js');
  expect(calledAs(undefined, root)).toBe('node bin/longhaul.js');
});

it('gives paths that can be opened from the folder', () => {
  expect(pathFrom(packageRoot, join(packageRoot, errorPage('internal')))).toBe('docs/errors/internal.md');
  expect(pathFrom('/some/where/far/away', '/opt/x.md')).toBe('/opt/x.md');
});

it('changes hints only', () => {
  const hint = 'See `longhaul tasks` and `longhaul show $&`; longhaul stays.';
  expect(withCommand(hint, 'node b.js')).toBe('See `node b.js tasks` and `node b.js show $&`; longhaul stays.');
});
