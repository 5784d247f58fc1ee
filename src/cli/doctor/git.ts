import { versionOf } from './programs.js';
import { type Check, type Finding, ok, warn } from './row.js';

/** The oldest git that is looked after here; it came out at the end of 2020. */
const WANTED = [2, 30] as const;

const INSTALL = `Install git ${WANTED.join('.')} or later: commands of a task, and you, need it to see and undo changes.`;

export const gitCheck: Check = {
  name: 'git',
  look: ({ env }) => gitFinding(env),
};

export async function gitFinding(env: NodeJS.ProcessEnv): Promise<Finding> {
  const answer = await versionOf('git', env);
  if ('missing' in answer) return warn('not found', INSTALL);
  if ('failed' in answer) return warn(`cannot be run: ${answer.failed}`, INSTALL);
  const [, version = '', major = '', minor = ''] = /((\d+)\.(\d+)\S*)/.exec(answer.said) ?? [];
  if (version === '') return warn(`says "${answer.said}" instead of its version`, INSTALL);
  const [wantedMajor, wantedMinor] = WANTED;
  const old = Number(major) < wantedMajor || (Number(major) === wantedMajor && Number(minor) < wantedMinor);
  return old ? warn(`${version} is older than ${WANTED.join('.')}`, INSTALL) : ok(version);
}
