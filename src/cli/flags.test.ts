import { describe, expect, it } from 'vitest';
import { parseApprovals, parseAskTime, parseCount, parseDuration, parseStatus } from './flags.js';

const slugOf = (act: () => unknown) => {
  try {
    act();
    return 'accepted';
  } catch (err) {
    return (err as { slug?: string }).slug;
  }
};

describe('flags', () => {
  it('reads durations with units and nothing else', () => {
    const parse = parseDuration('--max-time');
    expect([parse('90s'), parse('1h30m'), parse('2d'), parse('1.5s'), parse('500ms')]).toEqual([
      90_000, 5_400_000, 172_800_000, 1500, 500,
    ]);
    for (const bad of ['90', '', 's', '-5s', '5 s', '5x', '1h-', '0s', '999999d', '1e3s']) {
      expect(
        slugOf(() => parse(bad)),
        bad,
      ).toBe('bad-flag');
    }
  });

  it('takes no shorter time to a deadline than a minute', () => {
    expect(parseAskTime('--ask-deadline')('1m')).toBe(60_000);
    expect(slugOf(() => parseAskTime('--ask-deadline')('59s'))).toBe('bad-flag');
  });

  it('reads counts from 1 on', () => {
    expect(parseCount('--max-turns')('400')).toBe(400);
    for (const bad of ['0', '-1', '1.5', 'ten', '', '1e3', '9999999999']) {
      expect(
        slugOf(() => parseCount('--max-turns')(bad)),
        bad,
      ).toBe('bad-flag');
    }
  });

  it('adds approvals to the default, without repeats; none is none', () => {
    expect(parseApprovals('edit,all')).toEqual(['read', 'edit', 'all']);
    expect(parseApprovals('mcp', parseApprovals('read, edit'))).toEqual(['read', 'edit', 'mcp']);
    expect(parseApprovals('none')).toEqual([]);
    for (const bad of ['everything', '', 'edit,', 'none,edit', 'Edit']) {
      expect(
        slugOf(() => parseApprovals(bad)),
        bad,
      ).toBe('bad-flag');
    }
  });

  it('knows every status', () => {
    expect(parseStatus('no_worker')).toBe('no_worker');
    expect(parseStatus('completed')).toBe('completed');
    expect(slugOf(() => parseStatus('done'))).toBe('bad-flag');
  });
});
