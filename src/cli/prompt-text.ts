import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { LonghaulError, messageOf } from '../domain/errors.js';
import { badFlag } from './flags.js';
import type { Io } from './io.js';

/** The prompt of a task: given as an argument, or in a file, or on stdin (`-`). */
export async function readPrompt(io: Io, argument: string | undefined, file: string | undefined): Promise<string> {
  if (argument !== undefined && file !== undefined)
    throw badFlag('Give the prompt or --prompt-file, not both.', 'Leave one of them out.');
  if (argument === undefined && file === undefined) throw emptyPrompt('There is no prompt.');
  const prompt = file === undefined ? (argument ?? '') : decode(await readBytes(io, file), file);
  if (prompt.trim() !== '') return prompt;
  throw emptyPrompt('The prompt is empty.');
}

function emptyPrompt(message: string): LonghaulError {
  return new LonghaulError('prompt-empty', message, {
    kept: 'Nothing was started.',
    next: 'Say what the task is to do: `longhaul run "What to do"`, or --prompt-file FILE.',
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
    throw badFlag(`--prompt-file ${file} cannot be read: ${messageOf(err)}.`, 'Name a file that can be read.');
  }
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw badFlag(`--prompt-file ${file} is not UTF-8 text.`, 'Name a text file, or convert it to UTF-8.');
  }
}
