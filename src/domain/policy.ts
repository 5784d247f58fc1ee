import type { ApprovalNeed } from './calls.js';

/** Names accepted by `--approve`, after the original's auto-approval actions. */
export const APPROVALS = ['read', 'read-outside', 'edit', 'edit-outside', 'safe', 'all', 'mcp'] as const;
export type Approval = (typeof APPROVALS)[number];

/** What runs unasked. */
export interface ApprovalPolicy {
  yolo: boolean;
  approve: Approval[];
  /** Each set has to let a command through, whatever else is approved (docs/command-approval.md). */
  commands?: CommandRules[];
}

/** Rules about commands, from one source. Patterns are matched with each simple command: `*` is any text, `?` a character. */
export interface CommandRules {
  /** When it is there, only these run. */
  allow?: string[];
  /** These never run, whatever `allow` says. */
  deny?: string[];
  /** Commands may write to files by redirection. */
  allowRedirects?: boolean;
  /** These count as safe. */
  unasked?: string[];
}

/** The original's defaults: reading inside the workspace on; editing off. */
export const DEFAULT_APPROVALS: readonly Approval[] = ['read'];

/**
 * Whether a call runs without asking. `yolo` stands for everything inside the workspace and for commands; a path
 * outside always needs its own word. `safe` stands for commands that were found to only read.
 */
export function isApproved(need: ApprovalNeed, policy: ApprovalPolicy): boolean {
  const granted = (name: Approval) => policy.approve.includes(name);
  switch (need.need) {
    case 'none':
      return true;
    case 'read':
      return (policy.yolo || granted('read')) && (!need.outside || granted('read-outside'));
    case 'edit':
      return (policy.yolo || granted('edit')) && (!need.outside || granted('edit-outside'));
    case 'command':
      if (need.person) return false;
      if (policy.yolo || granted('all')) return true;
      return granted('safe') && need.safe !== undefined && (need.safe === 'inside' || granted('read-outside'));
  }
}

/** Whether what a command does is what lets it run unasked: after a change in the workspace that is to be found out anew. */
export function isJudged(need: ApprovalNeed, policy: ApprovalPolicy): boolean {
  return need.need === 'command' && !policy.yolo && !policy.approve.includes('all');
}
