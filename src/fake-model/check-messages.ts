import type { Violation } from './rules.js';
import type { RequestBlock, RequestMessage } from './shape.js';
import { isSealed, isSigned } from './signature.js';

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const ASSISTANT_ONLY = ['thinking', 'redacted_thinking', 'tool_use', 'server_tool_use'];
const USER_ONLY = ['tool_result', 'image', 'document'];

/** V1 to V4, V6, V7, V10 and the order of roles. */
export function checkMessages(messages: RequestMessage[]): Violation[] {
  const found: Violation[] = [];
  if (messages[0]?.role !== 'user') {
    found.push({ rule: 'first-message', message: "messages.0: the first message has to be the user's" });
  }
  messages.forEach((message, index) => {
    found.push(...checkRole(message, index));
    if (message.role === 'assistant') found.push(...checkThinking(message, index));
  });
  found.push(
    ...checkCalls(messages),
    ...checkResults(messages),
    ...checkFailed(messages),
    ...checkServerCalls(messages),
    ...checkFinal(messages),
  );
  return found;
}

function checkRole(message: RequestMessage, index: number): Violation[] {
  if (message.content.length === 0) {
    return [{ rule: 'empty-message', message: `messages.${index}: a message needs content` }];
  }
  const wrong = message.role === 'user' ? ASSISTANT_ONLY : USER_ONLY;
  return message.content
    .filter((block) => wrong.includes(block.type))
    .map((block) => ({
      rule: 'shape',
      message: `messages.${index}: a ${message.role} message cannot hold ${block.type}`,
    }));
}

/** V1 and V3: every call is answered in the next message, before anything else there, and no id comes twice. */
function checkCalls(messages: RequestMessage[]): Violation[] {
  const found: Violation[] = [];
  const seen = new Set<string>();
  messages.forEach((message, index) => {
    const calls = message.content.filter((block) => block.type === 'tool_use');
    for (const { id, name } of calls) {
      if (seen.has(id)) found.push({ rule: 'V3', message: `messages.${index}: the tool_use id ${id} was used before` });
      if (!TOOL_NAME.test(name)) found.push({ rule: 'V8', message: `messages.${index}: "${name}" cannot name a tool` });
      seen.add(id);
    }
    if (calls.length === 0) return;
    const next = messages[index + 1];
    const answered = new Set(next?.role === 'user' ? resultIds(next) : []);
    const open = calls.filter(({ id }) => !answered.has(id)).map(({ id }) => id);
    if (open.length > 0) {
      found.push({
        rule: 'V1',
        message: `messages.${index}: tool_use without a tool_result in the next message: ${open.join(', ')}`,
      });
    }
  });
  return found;
}

/** V1 (order), V2 and V4: results come first, belong to a call of the message before, one for each. */
function checkResults(messages: RequestMessage[]): Violation[] {
  const found: Violation[] = [];
  const answered = new Set<string>();
  messages.forEach((message, index) => {
    const ids = resultIds(message);
    if (message.role !== 'user' || ids.length === 0) return;
    if (message.content.slice(0, ids.length).some((block) => block.type !== 'tool_result')) {
      found.push({ rule: 'V1', message: `messages.${index}: every tool_result has to come before other content` });
    }
    const called = new Set(callIds(messages[index - 1]));
    for (const id of ids) {
      if (!called.has(id)) {
        found.push({
          rule: 'V2',
          message: `messages.${index}: tool_result ${id} has no tool_use in the message before`,
        });
      }
      if (answered.has(id)) {
        found.push({ rule: 'V4', message: `messages.${index}: tool_use ${id} has more than one tool_result` });
      }
      answered.add(id);
    }
  });
  return found;
}

/** The result of a call that failed holds text only. */
function checkFailed(messages: RequestMessage[]): Violation[] {
  return messages.flatMap(({ content }, index) =>
    content
      .filter(
        (block) => block.type === 'tool_result' && block.is_error && block.content?.some(({ type }) => type !== 'text'),
      )
      .map(() => ({ rule: 'shape', message: `messages.${index}: a tool_result with is_error holds text only` })),
  );
}

/** V6, as far as the signatures tell. */
function checkThinking(message: RequestMessage, index: number): Violation[] {
  const found: Violation[] = [];
  message.content.forEach((block, at) => {
    const intact =
      block.type === 'thinking'
        ? isSigned(block.thinking, block.signature)
        : block.type !== 'redacted_thinking' || isSealed(block.data);
    if (!intact) {
      found.push({ rule: 'V6', message: `messages.${index}.content.${at}: a ${block.type} block cannot be modified` });
    }
  });
  const last = message.content.at(-1)?.type;
  if (last === 'thinking' || last === 'redacted_thinking') {
    found.push({ rule: 'V6', message: `messages.${index}: an assistant message cannot end with ${last}` });
  }
  return found;
}

/** V10, as far as one request tells: only the last answer may hold a provider-run call that is still open. */
function checkServerCalls(messages: RequestMessage[]): Violation[] {
  const found: Violation[] = [];
  let open = new Map<string, number>();
  messages.forEach((message, index) => {
    if (message.role === 'user') {
      for (const [id, at] of open) {
        found.push({ rule: 'V10', message: `messages.${at}: server_tool_use ${id} has no result` });
      }
      open = new Map();
    }
    for (const block of message.content) {
      if (block.type === 'server_tool_use') open.set(block.id, index);
      if (isServerResult(block) && !open.delete(block.tool_use_id)) {
        found.push({ rule: 'V10', message: `messages.${index}: ${block.type} has no open server_tool_use` });
      }
    }
  });
  return found;
}

/** V7 */
function checkFinal(messages: RequestMessage[]): Violation[] {
  const final = messages.at(-1);
  const last = final?.content.at(-1);
  if (final?.role !== 'assistant' || last?.type !== 'text' || last.text === last.text.trimEnd()) return [];
  return [{ rule: 'V7', message: 'messages: a final assistant message cannot end with white space' }];
}

export function isServerResult(
  block: RequestBlock,
): block is Extract<RequestBlock, { type: 'web_search_tool_result' | 'web_fetch_tool_result' }> {
  return block.type === 'web_search_tool_result' || block.type === 'web_fetch_tool_result';
}

function resultIds(message: RequestMessage): string[] {
  return message.content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
}

function callIds(message: RequestMessage | undefined): string[] {
  if (message?.role !== 'assistant') return [];
  return message.content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}
