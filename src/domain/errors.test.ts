import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ERROR_SLUGS, errorPage, LonghaulError } from './errors.js';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('error pages', () => {
  it('exist for every slug, and for nothing else', () => {
    const pages = readdirSync(`${root}docs/errors`).filter((name) => name !== 'README.md');
    expect(pages.sort()).toEqual(ERROR_SLUGS.map((slug) => `${slug}.md`).sort());
  });

  it('begin with their slug and say more than that', () => {
    for (const slug of ERROR_SLUGS) {
      const [title, ...text] = readFileSync(`${root}${errorPage(slug)}`, 'utf8').split('\n');
      expect(title, slug).toBe(`# ${slug}`);
      expect(text.join(' ').trim().length, slug).toBeGreaterThan(100);
    }
  });

  it('are listed in order', () => {
    expect([...ERROR_SLUGS].sort()).toEqual([...ERROR_SLUGS]);
  });
});

describe('LonghaulError', () => {
  it('is known by its name, also from another copy of the module', () => {
    const foreign = Object.assign(new Error('x'), { name: 'LonghaulError', slug: 'internal' });
    expect(LonghaulError.is(foreign)).toBe(true);
    expect(LonghaulError.is(new Error('x'))).toBe(false);
    expect(LonghaulError.is({ name: 'LonghaulError', slug: 'internal' })).toBe(false);
  });
});
