/**
 * How a parameter's value is read. `short`: up to its first closing tag, trimmed. The others may hold any text, closing
 * tags too: `line` trimmed, and the call is complete with its own closing tag; `free` trimmed and `exact` byte for byte,
 * and their call is complete only when what follows shows that it has not gone on.
 */
export type ValueKind = 'short' | 'line' | 'free' | 'exact';

export interface TextTool {
  name: string;
  parameters: ReadonlyMap<string, ValueKind>;
  /** Other names of parameters → ours. */
  aliases: ReadonlyMap<string, string>;
}

/** The tools whose tags are read, by name. */
export type TextGrammar = ReadonlyMap<string, TextTool>;

/** A tool as far as its tags depend on it. */
export interface DescribedTool {
  name: string;
  input_schema: Readonly<Record<string, unknown>>;
  /** Other names of parameters: `{ given: ours }`. */
  aliases?: Readonly<Record<string, string>> | undefined;
}

/** Texts of one line that hold no markup. */
const SHORT: ReadonlySet<string> = new Set([
  'path',
  'file_pattern',
  'url',
  'uri',
  'title',
  'from_ref',
  'to_ref',
  'server_name',
  'tool_name',
  'skill_name',
]);
/** Texts that may hold markup, of calls that should start at once. */
const LINE: ReadonlySet<string> = new Set(['regex', 'query', 'task_progress']);
/** What becomes, or changes, a file. */
const EXACT: ReadonlySet<string> = new Set(['content', 'diff', 'input']);

/** Every parameter that is not known to be simple may hold any text. */
export function grammarOf(tools: readonly DescribedTool[]): TextGrammar {
  return new Map(
    tools.map((tool) => {
      const { name, aliases = {} } = tool;
      return [name, { name, parameters: parametersOf(tool), aliases: new Map(Object.entries(aliases)) }];
    }),
  );
}

function parametersOf({ input_schema, aliases = {} }: DescribedTool): Map<string, ValueKind> {
  const kinds = new Map<string, ValueKind>();
  for (const [name, schema] of Object.entries(input_schema.properties ?? {})) kinds.set(name, kindOf(name, schema));
  for (const [given, ours] of Object.entries(aliases)) kinds.set(given, kinds.get(ours) ?? 'free');
  return kinds;
}

function kindOf(name: string, schema: { type?: unknown }): ValueKind {
  if (['integer', 'number', 'boolean'].includes(String(schema.type)) || SHORT.has(name)) return 'short';
  if (LINE.has(name)) return 'line';
  return EXACT.has(name) ? 'exact' : 'free';
}

/** A call of such a parameter goes on being read until what follows shows that it has ended. */
export function isOpenEnded(kind: ValueKind): boolean {
  return kind === 'free' || kind === 'exact';
}

/** The value that stands between the tags of a parameter. */
export function readValue(kind: ValueKind, source: string): string {
  return kind === 'exact' ? source.replace(/^\r?\n/, '') : source.trim();
}

/** A call as it is written in the protocol, for a model that made it in another way. */
export function writeCall(grammar: TextGrammar, name: string, input: Readonly<Record<string, unknown>>): string {
  const kinds = grammar.get(name)?.parameters;
  const lines = Object.entries(input).map(([parameter, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const start = kinds?.get(parameter) === 'exact' ? '\n' : '';
    return `<${parameter}>${start}${text}</${parameter}>\n`;
  });
  return `<${name}>\n${lines.join('')}</${name}>`;
}
