import { createHash } from 'node:crypto';
import type { ToolUseBlock } from '../domain/blocks.js';
import type { AnswerCall, PreparedCall, ToolRun } from '../domain/calls.js';
import { HASH_LENGTH } from '../domain/hash.js';
import { readTodo } from '../domain/todo.js';
import type { Journal } from '../journal/journal.js';
import type { NewEvent } from '../journal/rows.js';

/** A todo list up to this many bytes of UTF-8 travels by value. */
const INLINE_TODO_BYTES = 300;

/** What a call tells the workflow besides what it does: whether it repeats another one, and the todo list. */
export async function callFacts(
  { name, input }: ToolUseBlock,
  journal: Journal,
): Promise<Pick<PreparedCall, 'sig' | 'todo'>> {
  const { task_progress: given, ...args } = input;
  const sig = signature(name, args);
  const todo = readTodo(given);
  if (!todo) return { sig };
  const { text, done, total } = todo;
  const isShort = Buffer.byteLength(text) <= INLINE_TODO_BYTES;
  return { sig, todo: { text: isShort ? { text } : await journal.putBlob(text), done, total } };
}

/** Says the todo list in the task log, once for each call that brings one. */
export function todoEvents({ call, todo }: PreparedCall, { input }: ToolUseBlock): NewEvent[] {
  const read = todo && readTodo(input.task_progress);
  return read ? [{ key: `${call}:todo`, event: { type: 'say', say: 'task_progress', ...read } }] : [];
}

/** A call that has run, in the workflow's hands. */
export function ranCall({ block, sig, todo }: PreparedCall, ran: ToolRun): Extract<AnswerCall, { ran: ToolRun }> {
  return { block, ran, ...(sig === undefined ? {} : { sig }), ...(todo && { todo }) };
}

/** The same for the same tool with the same arguments, in whatever order they come. */
export function signature(tool: string, args: unknown): string {
  const text = JSON.stringify([tool, args], (_, value: unknown) => (isPlain(value) ? sorted(value) : value));
  return createHash('sha256').update(text).digest('base64url').slice(0, HASH_LENGTH);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function sorted(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
