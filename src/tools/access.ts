import { isApproved } from '../domain/policy.js';
import type { ResolvedPath } from '../workspace/paths.js';
import { type RunContext, ToolError } from './tool.js';

/** What has to be allowed. A file of git or Longhaul is changed like one outside: its content decides what runs. */
export function needFor(kind: 'read' | 'edit', { outside, guarded }: Pick<ResolvedPath, 'outside' | 'guarded'>) {
  if (kind === 'read') return { need: kind, outside };
  return { need: kind, outside: outside || guarded, ...(guarded && { guarded: true as const }) };
}

/**
 * Looks again at what was allowed, with the path as it is now: a link put into it since then must not lead a call out
 * of the workspace.
 *
 * @throws ToolError when the call has not been approved for where the path leads
 */
export function assertAllowed(kind: 'read' | 'edit', target: ResolvedPath, ctx: RunContext): void {
  const need = needFor(kind, target);
  if (isApproved(need, ctx.policy)) return;
  if (ctx.approved && !(need.outside && ctx.approved.outside === false)) return;
  const reason = target.outside
    ? 'it leads outside the workspace'
    : need.outside
      ? 'it belongs to git or to Longhaul, whose files need approval as those outside the workspace do'
      : 'this needs approval';
  throw new ToolError(`"${target.display}" was not used: ${reason}, and nobody has approved that.`, false);
}
