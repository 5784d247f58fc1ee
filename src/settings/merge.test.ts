import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ASK_KINDS, type AskPolicies } from '../domain/asks.js';
import { LIMIT_NAMES } from '../domain/limits-change.js';
import { APPROVALS } from '../domain/policy.js';
import { type MergedSettings, mergeSettings } from './merge.js';
import type { PartialSettings } from './schema.js';
import { loosened } from './workspace-rules.js';

const optional = { requiredKeys: [] as never[] };
const askPolicy = fc.record(
  { deadlineMs: fc.integer({ min: 1, max: 9 }), default: fc.constantFrom('yes', 'no'), remindMs: fc.nat(9) },
  optional,
);
const asks = fc.dictionary(fc.constantFrom('all', ...ASK_KINDS), askPolicy) as fc.Arbitrary<AskPolicies>;
const settings = fc.record(
  {
    yolo: fc.boolean(),
    approve: fc.subarray([...APPROVALS]),
    limits: fc.record({ maxTurns: fc.integer({ min: 1, max: 9 }), maxCost: fc.integer({ min: 1, max: 9 }) }, optional),
    maxConsecutiveMistakes: fc.integer({ min: 1, max: 9 }),
    strictPlanMode: fc.boolean(),
    mode: fc.constantFrom('plan', 'act'),
    commands: fc.record(
      { allow: fc.constant(['a *']), deny: fc.constant(['b *']), unasked: fc.constant(['c *']) },
      optional,
    ),
    asks,
  },
  optional,
) as fc.Arbitrary<PartialSettings>;

it('a workspace never gets a task more than its person gives it, and what it changes is said', () => {
  const harmless = settings.filter((one) => loosened(one).length === 0);
  fc.assert(
    fc.property(settings, settings, harmless, (home, request, workspace) => {
      const { settings: without, tightened: nothing } = mergeSettings({ home, request, workspace: {} });
      const { settings: held, tightened } = mergeSettings({ home, request, workspace });
      expect(nothing).toEqual([]);
      expect(held.policy.yolo && !without.policy.yolo).toBe(false);
      expect(without.policy.approve).toEqual(expect.arrayContaining(held.policy.approve));
      for (const rules of without.policy.commands ?? []) expect(held.policy.commands).toContainEqual(rules);
      expect((held.policy.commands ?? []).filter((one) => one.unasked)).toEqual(
        (without.policy.commands ?? []).filter((one) => one.unasked),
      );
      for (const name of LIMIT_NAMES) {
        const most = without.limits[name] ?? Number.POSITIVE_INFINITY;
        expect(held.limits[name] ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(most);
      }
      expect(held.maxConsecutiveMistakes).toBeLessThanOrEqual(without.maxConsecutiveMistakes);
      expect(without.strictPlanMode && !held.strictPlanMode).toBe(false);
      expect(without.mode === 'plan' && held.mode === 'act').toBe(false);
      for (const kind of ASK_KINDS) {
        const [before, after] = [without, held].map((one) => one.asks[kind] ?? one.asks.all ?? {});
        if (after?.default !== 'yes') continue;
        expect(before?.default).toBe('yes');
        expect(after.deadlineMs).toBe(before?.deadlineMs);
      }
      expect(JSON.stringify(strictness(held)) === JSON.stringify(strictness(without))).toBe(tightened.length === 0);
    }),
    { numRuns: 500 },
  );
});

/** All that a workspace may tighten. */
function strictness({ policy, limits, maxConsecutiveMistakes, strictPlanMode, asks }: MergedSettings['settings']) {
  const policies = ASK_KINDS.map((kind) => {
    const { deadlineMs, remindMs, default: otherwise = 'no' } = asks[kind] ?? asks.all ?? {};
    return { deadlineMs, remindMs, otherwise };
  });
  return { policy, limits, maxConsecutiveMistakes, strictPlanMode, policies };
}
