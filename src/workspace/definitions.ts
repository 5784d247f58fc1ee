import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type { Language, Node, Parser } from 'web-tree-sitter';

/** A definition: the first line of a class, function, type and the like. */
export interface Definition {
  /** From 1. */
  line: number;
  /** How many other definitions it stands in. */
  depth: number;
  text: string;
}

/** A grammar of the package tree-sitter-wasms, and its names for definitions. */
interface Grammar {
  name: string;
  /** Definitions that may hold others. */
  outer: readonly string[];
  /** Definitions whose inside is not looked at. */
  inner: readonly string[];
}

/** Longest file that is parsed, in characters: a parse cannot be interrupted by other work. */
export const MAX_PARSED_CHARS = 400_000;
/** Deepest nesting that is followed. */
const MAX_DEPTH = 200;

const SCRIPT = {
  outer: ['class_declaration', 'abstract_class_declaration', 'interface_declaration', 'internal_module', 'module'],
  inner: [
    'function_declaration',
    'generator_function_declaration',
    'method_definition',
    'type_alias_declaration',
    'enum_declaration',
  ],
};
const C = {
  outer: ['struct_specifier', 'union_specifier'],
  inner: ['function_definition', 'enum_specifier', 'type_definition'],
};
const JAVASCRIPT: Grammar = { name: 'javascript', ...SCRIPT };
const TYPESCRIPT: Grammar = { name: 'typescript', ...SCRIPT };
const CPP: Grammar = {
  name: 'cpp',
  outer: [...C.outer, 'class_specifier', 'namespace_definition'],
  inner: [...C.inner, 'alias_declaration', 'concept_definition'],
};
const KOTLIN: Grammar = {
  name: 'kotlin',
  outer: ['class_declaration', 'object_declaration'],
  inner: ['function_declaration', 'type_alias'],
};

const GRAMMARS: Readonly<Record<string, Grammar>> = {
  '.js': JAVASCRIPT,
  '.jsx': JAVASCRIPT,
  '.mjs': JAVASCRIPT,
  '.cjs': JAVASCRIPT,
  '.ts': TYPESCRIPT,
  '.mts': TYPESCRIPT,
  '.cts': TYPESCRIPT,
  '.tsx': { name: 'tsx', ...SCRIPT },
  '.py': { name: 'python', outer: ['class_definition'], inner: ['function_definition'] },
  '.rs': {
    name: 'rust',
    outer: ['impl_item', 'trait_item', 'mod_item'],
    inner: [
      'function_item',
      'function_signature_item',
      'struct_item',
      'enum_item',
      'union_item',
      'type_item',
      'macro_definition',
    ],
  },
  '.go': { name: 'go', outer: [], inner: ['function_declaration', 'method_declaration', 'type_spec', 'type_alias'] },
  '.c': { name: 'c', ...C },
  '.h': CPP,
  '.cpp': CPP,
  '.cc': CPP,
  '.hpp': CPP,
  '.cs': {
    name: 'c_sharp',
    outer: [
      'namespace_declaration',
      'class_declaration',
      'interface_declaration',
      'struct_declaration',
      'record_declaration',
    ],
    inner: ['method_declaration', 'constructor_declaration', 'enum_declaration', 'delegate_declaration'],
  },
  '.rb': { name: 'ruby', outer: ['class', 'module'], inner: ['method', 'singleton_method'] },
  '.java': {
    name: 'java',
    outer: ['class_declaration', 'interface_declaration', 'record_declaration', 'enum_declaration'],
    inner: ['method_declaration', 'constructor_declaration', 'annotation_type_declaration'],
  },
  '.php': {
    name: 'php',
    outer: ['class_declaration', 'interface_declaration', 'trait_declaration', 'enum_declaration'],
    inner: ['function_definition', 'method_declaration'],
  },
  '.swift': {
    name: 'swift',
    outer: ['class_declaration', 'protocol_declaration'],
    inner: ['function_declaration', 'protocol_function_declaration', 'init_declaration', 'typealias_declaration'],
  },
  '.kt': KOTLIN,
  '.kts': KOTLIN,
};

/** Whether the definitions of a file can be told, by the end of its name. */
export function isParsed(name: string): boolean {
  return grammarOf(name) !== undefined;
}

function grammarOf(name: string): Grammar | undefined {
  const end = extname(name).toLowerCase();
  return Object.hasOwn(GRAMMARS, end) ? GRAMMARS[end] : undefined;
}

/**
 * The definitions of a source text, in its order. A text with errors gives those that can be told.
 *
 * @param name file name, which tells the language
 * @returns none for a language that is not known
 */
export async function definitionsOf(name: string, text: string): Promise<Definition[]> {
  const grammar = grammarOf(name);
  if (!grammar) return [];
  const { parser, languages } = await loaded();
  const language = languages.get(grammar.name) ?? languageOf(grammar.name);
  languages.set(grammar.name, language);
  parser.setLanguage(await language);
  const tree = parser.parse(text);
  if (!tree) return [];
  try {
    const found: Definition[] = [];
    collect(tree.rootNode, grammar, text.split('\n'), 0, 0, found);
    return found;
  } finally {
    tree.delete();
  }
}

function collect(
  node: Node,
  grammar: Grammar,
  lines: readonly string[],
  depth: number,
  level: number,
  found: Definition[],
): void {
  if (level > MAX_DEPTH) return;
  for (const child of node.namedChildren) {
    if (child === null) continue;
    const isOuter = grammar.outer.includes(child.type) && !isMereUse(child);
    const isInner =
      (grammar.inner.includes(child.type) && !isMereUse(child)) || isNamedFunction(child) || isPrototype(child);
    if (isOuter || isInner) add(child, lines, depth, found);
    if (!isInner) collect(child, grammar, lines, isOuter ? depth + 1 : depth, level + 1, found);
  }
}

/** `struct point p;` names a type, it does not define it. */
function isMereUse(node: Node): boolean {
  return node.type.endsWith('_specifier') && node.childForFieldName('body') === null;
}

/** `const f = () => {}`, and a field of a class that is one. */
function isNamedFunction(node: Node): boolean {
  if (!['variable_declarator', 'public_field_definition', 'field_definition'].includes(node.type)) return false;
  const value = node.childForFieldName('value')?.type ?? '';
  return ['arrow_function', 'function_expression', 'function', 'generator_function', 'class'].includes(value);
}

/** `int f(int);` of C and C++. */
function isPrototype(node: Node): boolean {
  if (node.type !== 'declaration' && node.type !== 'field_declaration') return false;
  let declarator = node.childForFieldName('declarator');
  while (declarator?.type === 'pointer_declarator') declarator = declarator.childForFieldName('declarator');
  return declarator?.type === 'function_declarator';
}

/** Decorators and the like come before the line that names it; of several on one line the first is enough. */
function add(node: Node, lines: readonly string[], depth: number, found: Definition[]): void {
  const row = (node.childForFieldName('name') ?? node).startPosition.row;
  const line = row + 1;
  if (found.at(-1)?.line === line) return;
  found.push({ line, depth, text: (lines[row] ?? '').trim() });
}

interface Loaded {
  parser: Parser;
  languages: Map<string, Promise<Language>>;
}

let loading: Promise<Loaded> | undefined;

/** Loaded with the first use: it takes memory that most tasks do not need. */
function loaded(): Promise<Loaded> {
  loading ??= import('web-tree-sitter').then(async ({ Parser }) => {
    await Parser.init();
    return { parser: new Parser(), languages: new Map() };
  });
  return loading;
}

async function languageOf(name: string): Promise<Language> {
  const { Language } = await import('web-tree-sitter');
  return Language.load(createRequire(import.meta.url).resolve(`tree-sitter-wasms/out/tree-sitter-${name}.wasm`));
}
