import { readIgnoredFiles } from '../command-policy/ignored-files.js';
import { judgeCommand } from '../command-policy/judge.js';
import type { Reason } from '../command-policy/verdicts.js';
import { LonghaulError } from '../domain/errors.js';
import type { CommandRules } from '../domain/policy.js';
import { oneLine } from '../domain/text.js';
import { findShell } from '../runner/environment.js';
import { readCommandPermissions } from '../settings/command-permissions.js';
import { CommandDenied, type PrepareContext, type Prepared } from './tool.js';

/** Reasons that the model is given at most. */
const MAX_REASONS = 5;

/**
 * What has to be allowed before a command may run.
 * @param risky the model says so; it can only make it stricter
 * @throws CommandDenied when a rule or `.clineignore` forbids it
 */
export async function commandApproval(
  command: string,
  { workspace, policy }: Pick<PrepareContext, 'workspace' | 'policy'>,
  risky: boolean,
): Promise<Pick<Prepared, 'approval' | 'why'>> {
  const env = process.env;
  const rules = [...(policy?.commands ?? []), ...ownRules(env)];
  const ignored = await readIgnoredFiles(workspace);
  const bash = findShell(env.PATH).endsWith('/bash');
  const judged = await judgeCommand(command, { workspace, env, rules, ignored, bash });
  const tellsWhy = policy?.approve.includes('safe') === true;
  switch (judged.verdict) {
    case 'denied':
      throw new CommandDenied(`The command is not allowed here, and nobody was asked. ${listed(judged.reasons)}`);
    case 'ask':
      return {
        approval: { need: 'command', ...(judged.person && { person: true }) },
        ...((tellsWhy || judged.person) && judged.reasons[0] && { why: shown(judged.reasons[0]) }),
      };
    case 'unasked':
      if (!risky) return { approval: { need: 'command', safe: judged.outside ? 'outside' : 'inside' } };
      return {
        approval: { need: 'command' },
        ...(tellsWhy && { why: 'The model itself says that it needs approval.' }),
      };
  }
}

/** Of the worker's environment; where they cannot be read, no command runs. */
function ownRules(env: NodeJS.ProcessEnv): CommandRules[] {
  try {
    const rules = readCommandPermissions(env);
    return rules ? [rules] : [];
  } catch (err) {
    if (!LonghaulError.is(err)) throw err;
    throw new CommandDenied(`No command can run: ${err.message}`);
  }
}

function listed(reasons: readonly Reason[]): string {
  const more = reasons.length > MAX_REASONS ? ` And ${reasons.length - MAX_REASONS} more.` : '';
  return reasons.slice(0, MAX_REASONS).map(shown).join(' ') + more;
}

function shown({ command, why }: Reason): string {
  return `\`${oneLine(command, 60)}\`: ${why}.`;
}
