import type { Assignment, Command, Redirection, SyntaxNode, Word } from 'unbash';
import { isInside } from '../workspace/paths.js';
import { changeFolder } from './folders.js';
import { locate } from './locate.js';
import { placeOf } from './places.js';
import { isBuiltin, judgeReadOnly } from './read-only.js';
import { judgeRedirection } from './redirects.js';
import { hostileSettings } from './repository.js';
import { denyingPattern, isNamed } from './rules.js';
import { type Inner, unwrap } from './unwrap.js';
import { isHarmlessAssignment, isSteeringVariable } from './variables.js';
import { ALLOWED, type Part, type Ruled, strictest, unclear } from './verdicts.js';
import type { Walk } from './walk.js';
import { type Argument, argumentsOf } from './words.js';

/** Wrappers around wrappers, at most. */
const MAX_WRAPPERS = 10;

/** Built into bash, and evaluates subscripts in its arguments. */
const EVALUATES =
  /^(test|\[|declare|typeset|local|export|readonly|let|unset|read|printf|wait|getopts|mapfile|readarray)$/;
const SETS_VARIABLES = /^(declare|typeset|local|export|readonly|unset|read|printf|getopts|mapfile|readarray|for)$/;

/** Judges one simple command: its words, assignments and redirections, and what it runs in turn. */
export async function judgeSimple(walk: Walk, node: Command): Promise<void> {
  const assignments = node.prefix.filter((one): one is Assignment => one.type === 'Assignment');
  const redirections: Redirection[] = [...node.redirects];
  const suffix = node.suffix.filter(
    (one): one is Word | Assignment => one.type === 'Word' || one.type === 'Assignment',
  );
  const own = [...(node.name ? [node.name] : []), ...suffix];
  const { unsafe, hidden } = await walk.expansions([...assignments, ...own] as SyntaxNode[]);
  for (const redirection of redirections) await judgeRedirection(walk, redirection);
  const words = own.flatMap(argumentsOfSuffix);
  const assigned = judgeAssignments(assignments, suffix, words);
  const part =
    words.length === 0 ? { command: '', ruled: walk.ctx.rules.map(() => ALLOWED) } : await judgeWords(walk, words);
  part.command = walk.textOf(node);
  const concealed = hidden ?? assigned.hidden ?? subscripts(words);
  if (concealed !== undefined) {
    part.ruled = part.ruled.map((one, at) => strictest([one, unclear(walk.ctx.rules[at] ?? {}, concealed)]));
  }
  const why = unsafe ?? assigned.unsafe ?? concealed ?? part.unsafe;
  if (why !== undefined) part.unsafe = why;
  walk.parts.push(part);
  await changeFolder(walk, words);
}

function argumentsOfSuffix(node: Word | Assignment): Argument[] {
  if (node.type === 'Word') return argumentsOf(node);
  const [value, ...more] = node.value.type === 'Word' ? argumentsOf(node.value) : [];
  const start = `${node.name}=`;
  const isKnown = node.index === undefined && !node.append && more.length === 0 && value?.value !== undefined;
  return [{ text: node.text, prefix: start, single: true, ...(isKnown && { value: start + value.value }) }];
}

function judgeAssignments(
  prefix: readonly Assignment[],
  suffix: readonly (Word | Assignment)[],
  words: readonly Argument[],
): { unsafe?: string; hidden?: string } {
  const name = words[0]?.value ?? '';
  const isShell = words.length === 0;
  const set = suffix.filter((one): one is Assignment => one.type === 'Assignment').map((one) => one.name);
  if (SETS_VARIABLES.test(name))
    set.push(...words.slice(1).map((one) => (one.value ?? one.prefix).split('=')[0] ?? ''));
  const steering = [...prefix.map((one) => one.name), ...set].find(isSteeringVariable);
  if (steering !== undefined) {
    const hidden = `it sets ${steering}, which changes what runs`;
    const isCat = prefix.every((one) => /^(GIT_|GH_)?PAGER=cat$/.test(one.text)) && set.length === 0;
    return isCat && !isShell ? {} : { unsafe: hidden, hidden };
  }
  const odd = prefix.find((one) => !(isShell ? isOwnVariable(one) : isHarmlessAssignment(one.text)));
  return odd ? { unsafe: `it sets ${odd.name}` } : {};
}

/** A variable of the line itself, which no program sees. Without patterns: where it is used, they would be names of files. */
function isOwnVariable({ name, index, value }: Assignment): boolean {
  return (
    /^[a-z][a-z0-9_]*$/.test(name) &&
    index === undefined &&
    value.type === 'Word' &&
    !/[*?[]/.test(value.text) &&
    !/_proxy$/.test(name)
  );
}

/** A quoted subscript that some of bash's own commands evaluate, with the substitutions in it. */
function subscripts(words: readonly Argument[]): string | undefined {
  const [first, ...args] = words;
  if (!EVALUATES.test(first?.value ?? '')) return undefined;
  const bad = args.find((one) => /\[[\s\S]*[$`]/.test(one.value ?? ''));
  return bad && `${bad.text} could be evaluated`;
}

/** A command as it is run, with all that it runs in turn. */
async function judgeWords(walk: Walk, words: Argument[], depth = 0): Promise<Part> {
  const { rules } = walk.ctx;
  const command = words.map((one) => one.text).join(' ');
  const [first] = words;
  if (first?.value === undefined || first.value === '' || depth > MAX_WRAPPERS) {
    const why = `${first?.text ?? 'it'} is known only when it runs`;
    return { command, unsafe: why, ruled: rules.map((one) => strictest([denied(words, one), unclear(one, why)])) };
  }
  const wrapped = unwrap(words);
  const inner: Part[] = [];
  let hidden = wrapped?.hidden;
  for (const one of wrapped?.inner ?? []) {
    const parts = await judgeInner(walk, one, depth + 1);
    if (typeof parts === 'string') hidden ??= parts;
    else inner.push(...parts);
  }
  const isClear = wrapped?.transparent === true && hidden === undefined;
  const ruled = rules.map((one, at) => {
    const own = denied(words, one);
    const insides = inner.map((part) => part.ruled[at] ?? ALLOWED);
    if (own.as === 'denied') return own;
    const forbidden = insides.find(
      ({ as, why }: Ruled & { why?: string }) => as === 'denied' && why?.startsWith('a rule denies'),
    );
    if (forbidden) return forbidden;
    if (!one.allow) return strictest([...insides, hidden === undefined ? ALLOWED : unclear(one, hidden)]);
    if (isNamed(words, one.allow)) return ALLOWED;
    if (isClear && inner.length > 0) return strictest(insides);
    return { as: 'denied', why: 'it is not among the commands that the rules allow' } satisfies Ruled;
  });
  const part: Part = { command, ruled };
  const forbidden = inner.find((one) => one.forbidden !== undefined)?.forbidden;
  if (forbidden !== undefined) part.forbidden = forbidden;
  await judgeReading(walk, words, part);
  if (rules.some(({ unasked }) => unasked && isNamed(words, unasked))) {
    delete part.unsafe;
    delete part.outside;
    return part;
  }
  const unsafeInner = inner.find((one) => one.unsafe !== undefined)?.unsafe;
  if (inner.some((one) => one.outside)) part.outside = true;
  if (wrapped) {
    const isFind = first.value === 'find' && inner.length > 0;
    if (isClear && inner.length > 0) {
      delete part.unsafe;
      if (!isBuiltin(first.value)) refuse(part, await locate(first.value, walk.ctx.env, walk.ctx.workspace));
    }
    const why =
      hidden ??
      unsafeInner ??
      (isClear || isFind || inner.length === 0 ? part.unsafe : 'it runs another command in its own way');
    if (why === undefined) delete part.unsafe;
    else part.unsafe = why;
  }
  return part;
}

function denied(words: readonly Argument[], rules: { deny?: string[] }): Ruled {
  const pattern = denyingPattern(words, rules);
  return pattern === undefined ? ALLOWED : { as: 'denied', why: `a rule denies "${pattern}"` };
}

async function judgeInner(walk: Walk, inner: Inner, depth: number): Promise<Part[] | string> {
  if ('words' in inner) return [await judgeWords(walk, inner.words, depth)];
  const text = inner.script.value;
  const parts = text === undefined ? undefined : await walk.inner(text);
  if (!parts) return 'its command cannot be read';
  if (inner.shell === 'bash') return parts;
  return [...parts, { command: text ?? '', unsafe: 'another shell than bash reads it', ruled: [] }];
}

/** Whether it only reads, and what: files outside, files that are kept from the model, a repository with programs of its own. */
async function judgeReading(walk: Walk, words: Argument[], part: Part): Promise<void> {
  const { workspace, ignored, env } = walk.ctx;
  const [first, ...args] = words;
  const name = first?.value ?? '';
  const read = name === 'cd' ? { files: args.slice(0, 1) } : judgeReadOnly(words);
  const folders = walk.folders;
  const files = 'files' in read ? read.files : ignored.any ? args.flatMap(namesIn) : [];
  for (const file of files) {
    const place = await placeOf(file, folders, workspace, ignored);
    if (place.ignored !== undefined) part.forbidden ??= `.clineignore keeps ${place.ignored} from you`;
    if (place.outside !== undefined) part.outside = true;
    if (place.unknown !== undefined) part.unsafe ??= place.unknown;
  }
  if ('why' in read) {
    part.unsafe = read.why;
    return;
  }
  if (read.recursive && ignored.any)
    part.unsafe ??= 'it reads whole folders, and .clineignore keeps some files in them from you';
  if (read.git && part.unsafe === undefined) {
    for (const folder of folders ?? []) refuse(part, await hostileSettings(folder, env, read.git === 'work-tree'));
  }
  if (!folders) refuse(part, 'it is not known in which folder it runs');
  if (folders?.some((folder) => !isInside(workspace, folder))) part.outside = true;
  if (part.unsafe === undefined && !isBuiltin(name)) refuse(part, await locate(name, env, workspace));
}

function refuse(part: Part, why: string | undefined): void {
  if (why !== undefined) part.unsafe ??= why;
}

/** What may be names of files in the arguments of any program. */
function namesIn(arg: Argument): Argument[] {
  const { value } = arg;
  if (value === undefined) return arg.pattern === undefined ? [] : [arg];
  const made = (text: string): Argument => ({ text: arg.text, value: text, prefix: text, single: true });
  const after = value.slice(value.indexOf('=') + 1);
  const names = [
    value,
    ...(value.includes('=') ? [after] : []),
    ...(/^-[a-zA-Z]./.test(value) ? [value.slice(2)] : []),
  ];
  return names
    .flatMap((one) => [one, one.replace(/^@/, '')])
    .filter((one, at, all) => one !== '' && all.indexOf(one) === at)
    .map(made);
}
