import type { Violation } from './rules.js';
import { type MessagesRequest, shapeProblem, toolShape } from './shape.js';

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const PROPERTY_NAME = /^[A-Za-z0-9_.-]{1,64}$/;
const TOP_LEVEL = ['oneOf', 'anyOf', 'allOf'];

/** V8 and V9. */
export function checkTools(tools: NonNullable<MessagesRequest['tools']>): Violation[] {
  const found: Violation[] = [];
  const seen = new Set<string>();
  tools.forEach((tool, index) => {
    if (!TOOL_NAME.test(tool.name)) {
      found.push({ rule: 'V8', message: `tools.${index}.name: "${tool.name}" does not match ${TOOL_NAME.source}` });
    }
    if (seen.has(tool.name)) found.push({ rule: 'V8', message: `tools.${index}.name: "${tool.name}" is used before` });
    seen.add(tool.name);
    if (isClientTool(tool)) found.push(...checkSchema(tool, index));
  });
  return found;
}

function isClientTool(tool: object): boolean {
  return !('type' in tool) || tool.type == null || tool.type === 'custom';
}

function checkSchema(tool: object, index: number): Violation[] {
  const parsed = toolShape.safeParse(tool);
  if (!parsed.success) {
    return [{ rule: 'shape', message: shapeProblem(parsed.error, ['tools', String(index)]) }];
  }
  const path = `tools.${index}.input_schema`;
  const schema = parsed.data.input_schema;
  const found: Violation[] = [];
  if (schema.type !== 'object') found.push({ rule: 'V9', message: `${path}.type: has to be "object"` });
  for (const key of TOP_LEVEL.filter((name) => name in schema)) {
    found.push({ rule: 'V9', message: `${path}: ${key} is not possible at the top level` });
  }
  const { properties = {}, required = [] } = schema;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties)) {
    found.push({ rule: 'V9', message: `${path}.properties: has to be an object` });
  } else {
    for (const name of Object.keys(properties).filter((key) => !PROPERTY_NAME.test(key))) {
      found.push({ rule: 'V9', message: `${path}.properties: "${name}" does not match ${PROPERTY_NAME.source}` });
    }
  }
  if (!Array.isArray(required) || required.some((name) => typeof name !== 'string')) {
    found.push({ rule: 'V9', message: `${path}.required: has to be a list of names` });
  }
  return found;
}
