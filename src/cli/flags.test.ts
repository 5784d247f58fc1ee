import { describe, expect, it } from 'vitest';
import {
  parseApprovals,
  parseAskTime,
  parseCount,
  parseDuration,
  parseMoney,
  parsePercent,
  parseStatus,
} from './flags.js';

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

  it('reads amounts of money, and percentages', () => {
    const money = parseMoney('--max-cost');
    expect([money('5'), money('0.50'), money('$5'), money('1000000'), money('0.000001')]).toEqual([
      5, 0.5, 5, 1e6, 1e-6,
    ]);
    for (const bad of ['0', '0.00', '-1', '5$', '5 USD', '1,50', '1e3', '.5', '', '1000001', 'Infinity', '$']) {
      expect(
        slugOf(() => money(bad)),
        bad,
      ).toBe('bad-flag');
    }
    const percent = parsePercent('--soft-limit');
    expect([percent('80'), percent('80%'), percent('0.5')]).toEqual([80, 80, 0.5]);
    for (const bad of ['0', '100', '-5', '', '%', 'half', '99.99999', '1e1']) {
      expect(
        slugOf(() => percent(bad)),
        bad,
      ).toBe('bad-flag');
    }
  });

  it('reads large counts where they make sense', () => {
    expect(parseCount('--max-tokens', 1e12)('1000000000000')).toBe(1e12);
    expect(slugOf(() => parseCount('--max-tokens', 1e12)('1000000000001'))).toBe('bad-flag');
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
