import type { TextRef } from './blocks.js';
import { cut } from './text.js';

/** The todo list of a task (the original's focus chain): Markdown check-list items, as the model last gave them. */
export interface Todo {
  text: TextRef;
  done: number;
  total: number;
}

/** Longest todo list that is kept, in characters. */
const MAX_CHARS = 8_000;
const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+\[( |x|X)\]\s+\S/;

/** Reads the todo list that came with a call. @returns undefined for what holds no item */
export function readTodo(given: unknown): { text: string; done: number; total: number } | undefined {
  if (typeof given !== 'string') return undefined;
  const text = cut(given.trim(), MAX_CHARS);
  const marks = text.split('\n').flatMap((line) => ITEM.exec(line)?.[1] ?? []);
  if (marks.length === 0) return undefined;
  return { text, done: marks.filter((mark) => mark !== ' ').length, total: marks.length };
}
