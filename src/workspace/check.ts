import { access, constants, realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { LonghaulError } from '../domain/errors.js';

/**
 * The real path of a folder that a task can work in.
 * @throws LonghaulError `workspace-missing`, `workspace-not-a-directory`, `workspace-unreadable`
 */
export async function checkWorkspace(given: string): Promise<string> {
  const path = resolve(given);
  const kept = 'No task was started.';
  let real: string;
  try {
    real = await realpath(path);
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw missing
      ? new LonghaulError('workspace-missing', `The workspace ${path} does not exist.`, {
          kept,
          next: 'Create the folder, or name another one.',
          cause,
        })
      : new LonghaulError('workspace-unreadable', `The workspace ${path} cannot be reached.`, {
          kept,
          next: 'Check its permissions.',
          cause,
        });
  }
  if (!(await stat(real)).isDirectory()) {
    throw new LonghaulError('workspace-not-a-directory', `The workspace ${path} is not a folder.`, {
      kept,
      next: 'Name the folder that holds it.',
    });
  }
  try {
    await access(real, constants.R_OK | constants.X_OK);
  } catch (cause) {
    throw new LonghaulError('workspace-unreadable', `The workspace ${path} cannot be read.`, {
      kept,
      next: 'Check its permissions.',
      cause,
    });
  }
  return real;
}
