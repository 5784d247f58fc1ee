import type { Command } from 'commander';
import { calledFromAnywhere } from './called-as.js';
import { joinPieces, shownInBash } from './completion/bash.js';
import { type Completion, complete } from './completion/complete.js';
import { completionScript } from './completion/scripts.js';
import { valuesOf } from './completion/values.js';
import type { Shell } from './flags.js';
import { type Io, printJson, printLine } from './io.js';

/** Prints the script that a shell sources. @returns the exit code */
export function completionCommand(io: Io, shell: Shell, json: boolean): number {
  const script = completionScript(shell, calledFromAnywhere(io.command));
  if (json) printJson(io, { type: 'completion', shell, script });
  else io.stdout.write(script);
  return 0;
}

/**
 * Answers the script: on the first line what kind of thing fits (`values`, `folders`, `files` or `nothing`) and, behind a
 * tab, what stands before it in the same word; then the values, each with its description behind a tab.
 *
 * @param words of the command line behind the command, up to the one to complete @returns the exit code
 */
export async function completeCommand(
  io: Io,
  home: string,
  program: Command,
  shell: Shell,
  words: readonly string[],
): Promise<number> {
  const { whole, typed } = shell === 'bash' ? joinPieces(words) : { whole: words, typed: 0 };
  const answer = await complete(program, whole, (wanted) => valuesOf(wanted, home));
  printLine(io, `${answer.kind}\t${answer.before.slice(typed)}`);
  for (const line of linesFor(io, shell, answer, typed)) printLine(io, line);
  return 0;
}

function linesFor(io: Io, shell: Shell, { candidates }: Completion, typed: number): string[] {
  if (shell !== 'bash') return candidates.map(({ value, about }) => `${value}\t${about}`);
  const rest = candidates.map(({ value, about }) => ({ value: value.slice(typed), about }));
  return shownInBash(rest, { type: Number(io.env.COMP_TYPE), columns: Number(io.env.COLUMNS) || 80 });
}
