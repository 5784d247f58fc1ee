import type { ParsedScript, SyntaxNode } from 'unbash';

/** Longest command line that is judged, characters. */
const MAX_CHARS = 32_768;
/** Nodes of the syntax tree that are walked at most. */
const MAX_NODES = 20_000;

type Grammar = typeof import('unbash');

export type ParsedLine = { script: ParsedScript; children: Grammar['forEachChild'] } | { problem: string };

let grammar: Promise<Grammar> | undefined;

/**
 * Reads a command line with a grammar of bash. What bash would not read, what people would not see as it is, and what is too
 * large comes back as a problem: a few words that follow "it ".
 */
export async function parseCommandLine(text: string): Promise<ParsedLine> {
  const problem = unreadable(text);
  if (problem !== undefined) return { problem };
  grammar ??= import('unbash');
  const { parse, forEachChild } = await grammar;
  try {
    const script = parse(text);
    const wrong = firstError(script, forEachChild);
    return wrong === undefined ? { script, children: forEachChild } : { problem: wrong };
  } catch {
    return { problem: 'could not be parsed' };
  }
}

function unreadable(text: string): string | undefined {
  if (text.length > MAX_CHARS) return `is longer than ${MAX_CHARS} characters`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(text)) return 'holds control characters';
  if (/[\p{Zs}\p{Zl}\p{Zp}\p{Cf}\p{Cs}\u115f\u1160\u3164\uffa0]/u.test(text.replaceAll(' ', ''))) {
    return 'holds characters that cannot be seen, or that look like a space and are none';
  }
  return undefined;
}

/** Scripts inside of substitutions carry their errors themselves. */
function firstError(script: ParsedScript, children: Grammar['forEachChild']): string | undefined {
  const pending: SyntaxNode[] = [script];
  let seen = 0;
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (++seen > MAX_NODES) return 'has too many parts';
    if (node.type === 'Script' && node.errors?.[0]) return `is no valid bash (${node.errors[0].message})`;
    children(node, (child) => pending.push(child));
  }
  return undefined;
}
