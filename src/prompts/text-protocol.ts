import { oneLine } from '../domain/text.js';
import type { OfferedTool } from '../model/request.js';

/** Characters of an argument in the heading of a result. */
const MAX_SUBJECT = 100;

/** What a call is about, for the heading of its result: the first of these that it has. */
const SUBJECTS = ['path', 'regex', 'command', 'question', 'url', 'uri', 'query', 'tool_name', 'skill_name', 'title'];

/** The part of the system prompt that takes the place of the API's own tools: for the same tools the same bytes. */
export function textProtocolPrompt(tools: readonly OfferedTool[]): string {
  return [SYNTAX, '# Tools', ...tools.map(toolText)].join('\n\n');
}

const SYNTAX = [
  '# How to call a tool',
  'Write the call into your answer, the name of the tool and of each parameter as tags without attributes:',
  ['<tool_name>', '<parameter_name>value</parameter_name>', '</tool_name>'].join('\n'),
  [
    '- Values are plain text: nothing is escaped, and `&lt;` is four characters. There is no CDATA. Lists are JSON arrays.',
    '- `content` and `diff` are taken byte for byte, blank lines and the last line break too; only one line break right after the opening tag is left out. Other values are trimmed.',
    '- A value may hold any tags, whole calls in pairs too. The closing tag of a parameter counts when the closing tag of its tool, or another parameter of it, follows.',
    '- Several calls may follow one another in an answer. Their results come with the next message, each headed "[tool_name for …] Result:". Never write a result yourself.',
    '- A tag that opens a tool in your answer is a call. When you only speak of a tool, leave out the angle brackets.',
  ].join('\n'),
].join('\n\n');

function toolText({ name, description, input_schema: schema }: OfferedTool): string {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const parameters = Object.entries(schema.properties ?? {}).map(
    ([parameter, about]: [string, { type?: unknown; description?: unknown }]) => {
      const type = typeof about.type === 'string' && about.type !== 'string' ? `, ${about.type}` : '';
      const need = required.includes(parameter) ? 'required' : 'optional';
      return `- ${parameter} (${need}${type}): ${String(about.description ?? '')}`;
    },
  );
  return [`## ${name}`, description, ['Parameters:', ...parameters].join('\n')].join('\n\n');
}

/** Heads the result of a call, where results are texts. */
export function resultHeading(tool: string, input: Readonly<Record<string, unknown>>): string {
  const subject = SUBJECTS.map((name) => input[name]).find((value) => typeof value === 'string' && value.trim() !== '');
  const about = typeof subject === 'string' ? ` for '${oneLine(subject, MAX_SUBJECT)}'` : '';
  return `[${oneLine(tool, 64)}${about}] Result:`;
}

/** Whether a text is the result of a call: what people say never begins like that, it stands in tags. */
export function isResultText(text: string): boolean {
  return /^\[[^\n]*\] Result:\n/.test(text);
}
