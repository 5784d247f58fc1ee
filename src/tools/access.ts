import type { ApprovalNeed } from '../domain/calls.js';
import { isApproved } from '../domain/policy.js';
import type { ResolvedPath } from '../workspace/paths.js';
import { type RunContext, ToolError } from './tool.js';

/**
 * Looks again at what was allowed, with the path as it is now: a link put into it since then must not lead a call out
 * of the workspace.
 *
 * @throws ToolError when the call has not been approved for where the path leads
 */
export function assertAllowed(kind: 'read' | 'edit', target: ResolvedPath, ctx: RunContext): void {
  const need: ApprovalNeed = { need: kind, outside: target.outside };
  if (isApproved(need, ctx.policy)) return;
  if (ctx.approved && !(target.outside && ctx.approved.outside === false)) return;
  const reason = target.outside ? 'it leads outside the workspace' : 'this needs approval';
  throw new ToolError(`"${target.display}" was not used: ${reason}, and nobody has approved that.`, false);
}
