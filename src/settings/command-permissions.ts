import { LonghaulError } from '../domain/errors.js';
import type { CommandRules } from '../domain/policy.js';
import { readCommandRules } from './schema.js';

/** The variable with rules about commands, in the original's form: `{"allow": [], "deny": [], "allowRedirects": false}`. */
export const PERMISSIONS_VARIABLE = 'CLINE_COMMAND_PERMISSIONS';

/**
 * Rules about commands of the environment; undefined when it has none.
 * @throws LonghaulError `bad-settings`, so that rules which cannot be read do not count as none
 */
export function readCommandPermissions(env: NodeJS.ProcessEnv): CommandRules | undefined {
  const text = env[PERMISSIONS_VARIABLE];
  if (text === undefined || text.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw bad('is not JSON');
  }
  const read = readCommandRules(value);
  if ('rules' in read) return { allowRedirects: false, ...read.rules };
  throw bad(read.problem);
}

function bad(problem: string): LonghaulError {
  const message = `${PERMISSIONS_VARIABLE} ${problem}.`;
  const next = `Correct it, such as ${PERMISSIONS_VARIABLE}='{"allow":["npm test"],"deny":["rm *"]}', or unset it.`;
  return new LonghaulError('bad-settings', message, { kept: 'Nothing was run or started.', next });
}
