/** What the model of a bench does with one task. It travels in the prompt, so that one model serves all tasks. */
export interface Plan {
  /** Tells tasks apart. */
  tag: string;
  /** Answers with a call before the one that completes the task. */
  turns: number;
  /** Name and arguments of the call; `{{n}}` in them is the number of the answer, from 1. */
  call: [name: string, input: Record<string, unknown>];
  /** Said before the call, `paceMs` between pieces of 20 characters. */
  say?: { text: string; paceMs: number };
}

const MARK = 'Plan: ';

export function promptOf(plan: Plan): string {
  return `${MARK}${JSON.stringify(plan)}`;
}

/** @param prompt the first user message, whatever stands around the plan */
export function planOf(prompt: string): Plan | undefined {
  const line = prompt.split('\n').find((one) => one.startsWith(MARK));
  return line === undefined ? undefined : (JSON.parse(line.slice(MARK.length)) as Plan);
}

let tags = 0;

/** A new tag, unique on this machine. */
export function newTag(): string {
  return `bench-${process.pid}-${++tags}`;
}
