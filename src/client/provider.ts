import { LonghaulError } from '../domain/errors.js';
import type { Journal } from '../journal/journal.js';
import { chooseProfile, chosenName, hasProfile } from '../model/named-profiles.js';
import { ENV_PROFILE } from '../model/profiles.js';

/** Where a client looks for provider settings. */
export interface Place {
  home: string;
  env: NodeJS.ProcessEnv;
}

/**
 * The profile of a new task: a stored one, or, on a cluster, the workers' own environment.
 * @param named what the caller has asked for
 * @param settings what the home's settings say
 * @throws LonghaulError `no-api-key`, `profile-unknown`, `bad-settings`, `journal-unwritable`
 */
export async function newTaskProfile(
  { home, env }: Place,
  embedded: boolean,
  named?: string,
  settings?: string,
): Promise<string> {
  if (named === ENV_PROFILE && !embedded) return ENV_PROFILE;
  const choice = chooseProfile(home, env, named, settings);
  if (choice) return chosenName(home, env, choice);
  if (!embedded) return ENV_PROFILE;
  throw noProvider();
}

/**
 * The profile that an answer from this shell moves a task to: the shell's own. The profile `default` only takes the
 * place of one that is gone.
 */
export async function answerProfile(
  { home, env }: Place,
  journal: Pick<Journal, 'getTask'>,
  task: string,
  embedded: boolean,
): Promise<string | undefined> {
  const choice = chooseProfile(home, env);
  if (!choice) return undefined;
  if (choice.from !== 'default') return embedded ? chosenName(home, env, choice) : undefined;
  const { profile = null } = (await journal.getTask(task)) ?? {};
  return profile === null || hasProfile(home, profile) ? undefined : choice.name;
}

/** A closed task that is taken up again keeps its profile while that is there. @throws LonghaulError `no-api-key` */
export async function followUpProfile({ home, env }: Place, task: string, profile: string): Promise<string> {
  if (hasProfile(home, profile)) return profile;
  const choice = chooseProfile(home, env);
  if (choice) return chosenName(home, env, choice);
  throw profileGone(task, profile);
}

/** No provider settings were found for a new task. */
function noProvider(): LonghaulError {
  return new LonghaulError('no-api-key', 'No model provider is configured: ANTHROPIC_API_KEY is not set.', {
    kept: 'No task was started.',
    next:
      'Set ANTHROPIC_API_KEY (and ANTHROPIC_BASE_URL for another server), or save a profile with `longhaul profile save default`. ' +
      '`longhaul demo` needs no key.',
  });
}

/** A closed task cannot be taken up again with the provider settings it had. */
function profileGone(task: string, profile: string): LonghaulError {
  return new LonghaulError(
    'no-api-key',
    `The provider profile "${profile}" of task ${task} is no longer there, and this shell has no settings to take its place.`,
    {
      kept: 'The task, its log and its conversation; the message was not sent.',
      next: 'Set ANTHROPIC_API_KEY (and ANTHROPIC_BASE_URL for another server), or LONGHAUL_PROFILE, and send it again.',
    },
  );
}
