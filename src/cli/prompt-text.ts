import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { LonghaulError } from '../domain/errors.js';
import { badFlag } from './flags.js';
import type { Io } from './io.js';

/** The prompt of a task: given as an argument, or in a file, or on stdin (`-`). */
export async function readPrompt(io: Io, argument: string | undefined, file: string | undefined): Promise<string> {
  if (argument !== undefined && file !== undefined) throw badFlag('Give the prompt or --prompt-file, not both.');
  if (argument === undefined && file === undefined) {
    throw badFlag('There is no prompt. Give one: longhaul run "What to do", or --prompt-file FILE.');
  }
  const prompt = file === undefined ? (argument ?? '') : decode(await readBytes(io, file), file);
  if (prompt.trim() !== '') return prompt;
  throw new LonghaulError('prompt-empty', 'The prompt is empty.', {
    kept: 'Nothing was started.',
    next: 'Say what the task is to do: longhaul run "What to do".',
  });
}

async function readBytes(io: Io, file: string): Promise<Uint8Array> {
  if (file === '-') {
    const chunks: Buffer[] = [];
    for await (const chunk of io.stdin) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  }
  try {
    return await readFile(resolve(io.cwd, file));
  } catch (err) {
    throw badFlag(`--prompt-file ${file} cannot be read: ${err instanceof Error ? err.message : String(err)}.`);
  }
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badFlag(`--prompt-file ${file} is not UTF-8 text.`);
  }
}
