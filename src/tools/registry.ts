import { z } from 'zod';
import type { OfferedTool } from '../model/request.js';
import { actModeRespond } from './act-mode-respond.js';
import { applyPatch } from './apply-patch.js';
import { askFollowupQuestion } from './ask-followup-question.js';
import { attemptCompletion } from './attempt-completion.js';
import { executeCommand } from './execute-command.js';
import { listCodeDefinitionNames } from './list-code-definition-names.js';
import { listFiles } from './list-files.js';
import { planModeRespond } from './plan-mode-respond.js';
import { readFile } from './read-file.js';
import { replaceInFile } from './replace-in-file.js';
import { searchFiles } from './search-files.js';
import type { Tool } from './tool.js';
import { writeToFile } from './write-to-file.js';

/** All tools, in the order in which the model is offered them. */
export const tools: readonly Tool[] = [
  readFile,
  writeToFile,
  replaceInFile,
  applyPatch,
  listFiles,
  searchFiles,
  listCodeDefinitionNames,
  executeCommand,
  askFollowupQuestion,
  planModeRespond,
  actModeRespond,
  attemptCompletion,
];

export function findTool(name: string): Tool | undefined {
  return tools.find((tool) => tool.name === name);
}

/** Nobody is there to answer under yolo. */
const NOT_UNDER_YOLO = new Set([askFollowupQuestion.name]);

const taskProgress = z
  .string()
  .optional()
  .describe('The todo list of the task, as a Markdown check list, when it has changed.');

/**
 * The tools a request offers; for the same argument always the same bytes, so that the provider's cache holds. The mode
 * is none of it: a switch must not cost the cache.
 */
export function offeredTools({ yolo }: { yolo: boolean }): OfferedTool[] {
  return tools
    .filter((tool) => !(yolo && NOT_UNDER_YOLO.has(tool.name)))
    .map((tool) => ({ name: tool.name, description: tool.description, input_schema: inputSchemaOf(tool) }));
}

/** Every request offers the tools, and their schemas never change. */
const schemas = new Map<string, OfferedTool['input_schema']>();

function inputSchemaOf(tool: Tool): OfferedTool['input_schema'] {
  const schema = schemas.get(tool.name) ?? makeSchema(tool);
  schemas.set(tool.name, schema);
  return schema;
}

function makeSchema(tool: Tool): OfferedTool['input_schema'] {
  const schema = z.toJSONSchema(tool.schema.extend({ task_progress: taskProgress }), {
    override: ({ jsonSchema }) => {
      // Bounds that only say "a number JavaScript can hold" tell the model nothing.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const { $schema: _, ...rest } = schema;
  return { ...rest, type: 'object' };
}

/**
 * Checks the arguments of a call. Unknown parameters are dropped, aliases are read, and native types and their spelling
 * as strings are both taken.
 *
 * @returns the arguments for the tool, or what is wrong with them, naming the parameter
 */
export function parseArguments(tool: Tool, raw: unknown): { ok: Record<string, unknown> } | { problem: string } {
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) {
    return { problem: `The arguments of ${tool.name} must be one JSON object.` };
  }
  const parsed = tool.schema.safeParse(withAliases(tool, raw as Record<string, unknown>));
  if (parsed.success) return { ok: parsed.data };
  const issue = parsed.error.issues[0];
  const name = String(issue?.path[0] ?? '');
  if (issue?.code === 'invalid_type' && (raw as Record<string, unknown>)[name] === undefined) {
    return { problem: `The parameter "${name}" of ${tool.name} is missing. Call it again with all its parameters.` };
  }
  return { problem: `The parameter "${name}" of ${tool.name} is not usable: ${issue?.message ?? 'unknown problem'}.` };
}

function withAliases(tool: Tool, raw: Record<string, unknown>): Record<string, unknown> {
  const named = { ...raw };
  for (const [given, ours] of Object.entries(tool.aliases ?? {})) {
    if (named[ours] === undefined && named[given] !== undefined) named[ours] = named[given];
  }
  return named;
}
