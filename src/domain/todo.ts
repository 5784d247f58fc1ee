import type { TextRef } from './blocks.js';

/** The todo list of a task (the original's focus chain): Markdown check-list items, as the model last gave them. */
export interface Todo {
  text: TextRef;
  done: number;
  total: number;
}
