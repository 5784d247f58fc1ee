import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder, toolBench } from '../../test/support/tools.js';
import { listCodeDefinitionNames } from './list-code-definition-names.js';

const SOURCES: Record<string, { text: string; lines: string[] }> = {
  'a.ts': {
    text: '/** x */\nexport class A<T> {\n  run(x: string): void {\n    function hidden() {}\n  }\n}\nexport const f = () => 1;\nconst n = 1;\ntype T = string;\ninterface I {}\n',
    lines: [
      '2 | export class A<T> {',
      '3 |   run(x: string): void {',
      '7 | export const f = () => 1;',
      '9 | type T = string;',
      '10 | interface I {}',
    ],
  },
  'b.tsx': { text: 'export function B() {\n  return <b>x</b>;\n}\n', lines: ['1 | export function B() {'] },
  'c.jsx': {
    text: 'const C = () => <i/>;\nclass K { m() {} }\n',
    lines: ['1 | const C = () => <i/>;', '2 | class K { m() {} }'],
  },
  'd.py': {
    text: '@deco\nclass D:\n    @property\n    def m(self):\n        pass\n\nasync def g(): pass\n',
    lines: ['2 | class D:', '4 |   def m(self):', '7 | async def g(): pass'],
  },
  'e.rs': {
    text: 'pub struct E { a: u8 }\nimpl E {\n    pub fn new() -> E { todo!() }\n}\n',
    lines: ['1 | pub struct E { a: u8 }', '2 | impl E {', '3 |   pub fn new() -> E { todo!() }'],
  },
  'f.go': {
    text: 'package f\ntype F struct{}\nfunc (f F) M() {}\nfunc main() {}\n',
    lines: ['2 | type F struct{}', '3 | func (f F) M() {}', '4 | func main() {}'],
  },
  'g.c': {
    text: 'struct g { int a; };\nint *p(int);\nint main(void) {\n  struct g x;\n  return 0;\n}\n',
    lines: ['1 | struct g { int a; };', '2 | int *p(int);', '3 | int main(void) {'],
  },
  'h.cpp': {
    text: 'namespace h {\nclass H {\n  void m();\n};\n}\n',
    lines: ['1 | namespace h {', '2 |   class H {', '3 |     void m();'],
  },
  'i.cs': {
    text: 'namespace I {\n  class C {\n    void M() {}\n  }\n}\n',
    lines: ['1 | namespace I {', '2 |   class C {', '3 |     void M() {}'],
  },
  'j.rb': {
    text: 'module J\n  class C\n    def m; end\n  end\nend\n',
    lines: ['1 | module J', '2 |   class C', '3 |     def m; end'],
  },
  'k.java': {
    text: 'class K {\n  @Override\n  int m() { return 1; }\n}\n',
    lines: ['1 | class K {', '3 |   int m() { return 1; }'],
  },
  'l.php': { text: '<?php\nclass L {\n  function m() {}\n}\n', lines: ['2 | class L {', '3 |   function m() {}'] },
  'm.swift': { text: 'struct M {\n  func m() {}\n}\n', lines: ['1 | struct M {', '2 |   func m() {}'] },
  'n.kt': { text: 'class N {\n  fun m() {}\n}\n', lines: ['1 | class N {', '2 |   fun m() {}'] },
};

test('definitions of every language, with their lines and nesting', async () => {
  const bench = await toolBench();
  for (const [name, { text, lines }] of Object.entries(SOURCES)) {
    await writeFile(join(bench.workspace, name), text);
    const outcome = await bench.run(listCodeDefinitionNames, { path: name });
    expect(outcome.text.split('\n'), name).toEqual([name, ...lines]);
  }
  const all = await bench.run(listCodeDefinitionNames, { path: '.' });
  const wanted = Object.entries(SOURCES).map(([name, { lines }]) => [name, ...lines].join('\n'));
  expect(all.text).toBe(wanted.join('\n\n'));
});

test('broken, deep and foreign files do no harm', async () => {
  const bench = await toolBench();
  const put = (name: string, text: string | Buffer) => writeFile(join(bench.workspace, name), text);
  await put('broken.ts', 'class {{{ ((\nfunction ok() {}\n\u0000');
  await put('torn.ts', 'class A {\n  m( {\n}\nfunction ok() {}\n');
  await put('deep.js', `${'['.repeat(20_000)}\n`);
  await put('large.js', 'function f() {}\n'.repeat(40_000));
  await put('notes.txt', 'class X {}\n');
  await mkdir(join(bench.workspace, 'dir.ts'));
  const { text } = await bench.run(listCodeDefinitionNames, { path: '.' });
  expect(text).toContain('function ok() {}');
  expect(text).toContain('(large.js is too large to be parsed)');
  expect(text).not.toContain('class X');
  expect((await bench.run(listCodeDefinitionNames, { path: 'notes.txt' })).text).toContain('is not known');
  expect((await bench.run(listCodeDefinitionNames, { path: 'gone' })).status).toBe('error');
});

test('at most 50 files; links are not followed, blocked files not read', async () => {
  const bench = await toolBench();
  const outside = await tempFolder();
  await writeFile(join(outside, 'secret.ts'), 'class Canary {}\n');
  await symlink(join(outside, 'secret.ts'), join(bench.workspace, '0-link.ts'));
  await writeFile(join(bench.workspace, '.clineignore'), '1-blocked.ts\n');
  await writeFile(join(bench.workspace, '1-blocked.ts'), 'class Canary {}\n');
  for (let at = 0; at < 55; at++) await writeFile(join(bench.workspace, `f${at + 10}.ts`), `class F${at} {}\n`);
  const { text } = await bench.run(listCodeDefinitionNames, { path: '.' });
  expect(text.match(/^f\d+\.ts$/gm)).toHaveLength(50);
  expect(text).toContain('only 50 are looked at');
  expect(text).not.toContain('Canary');
});
