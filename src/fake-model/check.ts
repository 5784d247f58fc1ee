import { checkImages } from './check-images.js';
import { checkMessages } from './check-messages.js';
import { checkTools } from './check-tools.js';
import type { ApiVersion } from './gate.js';
import type { Violation } from './rules.js';
import type { MessagesRequest } from './shape.js';

const MAX_CACHE_MARKS = 4;
const MIN_THINKING_BUDGET = 1024;

/** What the request is for: an answer, or only a count of its tokens. */
export interface Wanted {
  version: ApiVersion;
  counting: boolean;
}

/** Everything in a request that the API would refuse, from the request alone. */
export function check(request: MessagesRequest, { version, counting }: Wanted): Violation[] {
  return [
    ...(counting ? [] : checkOutput(request)),
    ...(version === '2026-10-21' ? checkRemoved(request) : []),
    ...checkChoice(request),
    ...checkMarks(request),
    ...checkTools(request.tools ?? []),
    ...blankBlocks(request),
    ...checkMessages(request.messages),
    ...checkImages(request.messages),
  ];
}

function checkOutput({ max_tokens: max, thinking }: MessagesRequest): Violation[] {
  if (max === undefined) return [{ rule: 'max-tokens', message: 'max_tokens: this field is required' }];
  if (thinking?.type !== 'enabled') return [];
  const budget = thinking.budget_tokens;
  if (budget < MIN_THINKING_BUDGET) {
    return [{ rule: 'thinking', message: `thinking.budget_tokens: ${budget} is less than ${MIN_THINKING_BUDGET}` }];
  }
  if (max > budget) return [];
  return [{ rule: 'thinking', message: `max_tokens: ${max} has to be more than thinking.budget_tokens, ${budget}` }];
}

/** What version 2026-10-21 of the API no longer takes. */
function checkRemoved(request: MessagesRequest): Violation[] {
  const found: Violation[] = [];
  for (const field of ['temperature', 'top_p', 'top_k'] as const) {
    if (request[field] !== undefined) found.push({ rule: 'shape', message: `${field}: this field is not known here` });
  }
  request.messages.forEach((message, index) => {
    const cites = message.content.some((block) => block.type === 'text' && (block.citations ?? []).length > 0);
    if (message.role === 'user' && cites) {
      found.push({ rule: 'shape', message: `messages.${index}: a user message cannot hold citations` });
    }
  });
  return found;
}

function checkChoice({ tools = [], tool_choice: choice, thinking, temperature }: MessagesRequest): Violation[] {
  const found: Violation[] = [];
  const thinks = thinking !== undefined && thinking.type !== 'disabled';
  if (choice !== undefined && choice.type !== 'none' && tools.length === 0) {
    found.push({ rule: 'tool-choice', message: 'tool_choice: there are no tools to choose from' });
  } else if (choice?.type === 'tool' && !tools.some((tool) => tool.name === choice.name)) {
    found.push({ rule: 'tool-choice', message: `tool_choice: there is no tool named "${choice.name}"` });
  }
  if (thinks && (choice?.type === 'any' || choice?.type === 'tool')) {
    found.push({ rule: 'thinking', message: 'thinking: cannot be on while tool_choice forces a tool' });
  }
  if (thinks && temperature !== undefined && temperature !== 1) {
    found.push({ rule: 'thinking', message: 'temperature: can only be 1 while thinking is on' });
  }
  return found;
}

function checkMarks(request: MessagesRequest): Violation[] {
  const marks = [
    request,
    ...(request.tools ?? []),
    ...(request.system ?? []),
    ...request.messages.flatMap((message) => message.content).flatMap(withInner),
  ].filter((holder) => 'cache_control' in holder && holder.cache_control != null).length;
  if (marks <= MAX_CACHE_MARKS) return [];
  return [
    { rule: 'cache-marks', message: `cache_control: at most ${MAX_CACHE_MARKS} blocks can have it, found ${marks}` },
  ];
}

function withInner<T extends MessagesRequest['messages'][number]['content'][number]>(block: T): object[] {
  return block.type === 'tool_result' ? [block, ...(block.content ?? [])] : [block];
}

/** V5, also in the system prompt and inside tool results. */
function blankBlocks(request: MessagesRequest): Violation[] {
  const found: Violation[] = [];
  const look = (blocks: readonly { type: string }[], path: string) => {
    blocks.forEach((block, index) => {
      if ('text' in block && typeof block.text === 'string' && block.type === 'text' && block.text.trim() === '') {
        found.push({ rule: 'V5', message: `${path}.${index}: a text block has to hold more than white space` });
      }
      if ('content' in block && block.type === 'tool_result') {
        look((block.content ?? []) as { type: string }[], `${path}.${index}.content`);
      }
    });
  };
  look(request.system ?? [], 'system');
  request.messages.forEach((message, index) => {
    look(message.content, `messages.${index}.content`);
  });
  return found;
}
