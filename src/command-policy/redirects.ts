import type { Redirection } from 'unbash';
import { placeOf } from './places.js';
import { ALLOWED, type Part, unclear } from './verdicts.js';
import type { Walk } from './walk.js';
import { argumentsOf } from './words.js';

/** Judges what a redirection reads or writes, and what bash carries out in it. */
export async function judgeRedirection(walk: Walk, redirection: Redirection): Promise<void> {
  const nodes =
    redirection.type === 'HereDoc' ? [redirection.body] : [redirection.target].filter((one) => one !== undefined);
  const { unsafe, hidden } = await walk.expansions(nodes);
  if (unsafe !== undefined) walk.note(redirection, { unsafe, hidden });
  if (redirection.type !== 'Redirect' || !redirection.target) return;
  if (redirection.descriptor?.type === 'FileDescriptorVariable') {
    walk.note(redirection, { unsafe: 'it sets a variable' });
  }
  const { operator, target } = redirection;
  const [arg, ...more] = argumentsOf(target);
  if (/^[<>]&$/.test(operator) && /^(\d+-?|-)$/.test(arg?.value ?? '')) return;
  if (operator !== '<' && arg?.value === '/dev/null') return;
  const { ctx } = walk;
  const part: Part = { command: walk.textOf(redirection), ruled: ctx.rules.map(() => ALLOWED) };
  walk.parts.push(part);
  if (operator !== '<') {
    part.unsafe = `it writes to ${target.text}`;
    part.ruled = ctx.rules.map((rules) =>
      (rules.allowRedirects ?? !(rules.allow || rules.deny))
        ? ALLOWED
        : { as: 'denied', why: 'the rules do not allow redirections to files' },
    );
  }
  const isProcess = target.parts?.length === 1 && target.parts[0]?.type === 'ProcessSubstitution';
  if (isProcess && operator === '<') return;
  const place = arg && more.length === 0 ? await placeOf(arg, walk.folders, ctx.workspace, ctx.ignored) : undefined;
  if (place?.ignored !== undefined) part.forbidden = `.clineignore keeps ${place.ignored} from you`;
  if (!place || place.unknown !== undefined)
    part.unsafe ??= place?.unknown ?? `${target.text} is known only when it runs`;
  if (/^\/dev\/(tcp|udp)\//.test(arg?.value ?? '')) {
    part.unsafe ??= 'it opens a connection';
    part.ruled = ctx.rules.map((rules) => unclear(rules, 'it opens a connection'));
  }
  if (place?.outside !== undefined) part.outside = true;
}
