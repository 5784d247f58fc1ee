import { oneLine } from '../domain/text.js';
import { parseCommandLine } from './grammar.js';
import type { Judgement, Part, PolicyContext, Reason } from './verdicts.js';
import { Walk } from './walk.js';

/** Longest piece of a command line in a reason, characters. */
const MAX_COMMAND = 120;

/**
 * Judges a command line: read with a grammar of bash, every simple command in it by itself, also those in substitutions and
 * those that others run. What cannot be judged is never `unasked`.
 */
export async function judgeCommand(line: string, ctx: PolicyContext): Promise<Judgement> {
  const parsed = ctx.bash ? await parseCommandLine(line) : { problem: 'is not run by bash on this machine' };
  if ('problem' in parsed) return notJudged(line, parsed.problem, ctx);
  const walk = new Walk(ctx, parsed.children, line, [ctx.workspace]);
  await walk.script(parsed.script);
  return verdictOf(walk.parts);
}

function notJudged(line: string, problem: string, { rules, ignored }: PolicyContext): Judgement {
  const why = `it ${problem}, so it cannot be judged`;
  const reasons = [{ command: oneLine(line, MAX_COMMAND), why }];
  if (rules.some(({ allow }) => allow)) return { verdict: 'denied', reasons };
  return { verdict: 'ask', person: rules.some(({ deny }) => deny?.length) || ignored.any, reasons };
}

function verdictOf(parts: readonly Part[]): Judgement {
  const denied = parts.flatMap((part): Reason[] => {
    const rule = part.ruled.find(({ as }) => as === 'denied');
    const why = part.forbidden ?? (rule && 'why' in rule ? rule.why : undefined);
    return why === undefined ? [] : [reason(part, why)];
  });
  if (denied.length > 0) return { verdict: 'denied', reasons: denied };
  const unclear = parts.flatMap((part): Reason[] => {
    const rule = part.ruled.find(({ as }) => as === 'unclear');
    return rule && 'why' in rule ? [reason(part, rule.why)] : [];
  });
  const unsafe = parts.flatMap((part) => (part.unsafe === undefined ? [] : [reason(part, part.unsafe)]));
  if (unclear.length > 0) return { verdict: 'ask', person: true, reasons: unclear };
  if (unsafe.length > 0) return { verdict: 'ask', person: false, reasons: unsafe };
  return { verdict: 'unasked', outside: parts.some((part) => part.outside) };
}

function reason({ command }: Part, why: string): Reason {
  return { command: oneLine(command, MAX_COMMAND), why };
}
