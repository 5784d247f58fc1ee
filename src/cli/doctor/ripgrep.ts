import { messageOf } from '../../domain/errors.js';
import { versionOf } from './programs.js';
import { bad, type Check, type Finding, ok } from './row.js';

const NEXT = 'Install Longhaul again, with its optional packages: `search_files` cannot work without it.';

export const ripgrepCheck: Check = {
  name: 'ripgrep',
  look: async ({ env }) => {
    try {
      // loaded here only: the module throws on platforms for which it has no program
      return await ripgrepFinding((await import('@vscode/ripgrep')).rgPath, env);
    } catch (err) {
      return bad(`not there: ${messageOf(err)}`, NEXT);
    }
  },
};

/** @param path of the program */
export async function ripgrepFinding(path: string, env: NodeJS.ProcessEnv): Promise<Finding> {
  const answer = await versionOf(path, env);
  if ('missing' in answer) return bad(`${path} is not there`, NEXT);
  if ('failed' in answer) return bad(`${path} cannot be run: ${answer.failed}`, NEXT);
  return ok(answer.said.replace(/^ripgrep /, ''));
}
