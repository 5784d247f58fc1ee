import { environmentDifferences } from './environment.js';
import { withoutLog } from './files.js';
import type { PackageIdentity } from './package.js';
import { type ChildTrouble, isFailing, type ServiceState } from './service.js';
import { type ServiceAge, serviceAge } from './versions.js';

/** What a caller of a running service has to know of it. */
export interface ServiceDifferences {
  age: ServiceAge;
  /** Names of environment variables that matter to tasks and differ. */
  variables: string[];
  /** Why it has no worker, or none that lasts. */
  worker?: ChildTrouble;
}

/** Compares a running service with its caller. Reads nothing but its arguments. */
export function serviceDifferences(
  state: ServiceState,
  own: PackageIdentity,
  env: NodeJS.ProcessEnv,
): ServiceDifferences {
  const differences = { age: serviceAge(state, own), variables: environmentDifferences(state.environment, env) };
  const worker = state.workerTrouble;
  return worker && isFailing(state.workerPid, worker) ? { ...differences, worker } : differences;
}

/** The same as lines for people, one a difference; none when there is nothing to say. */
export function serviceNotes(state: ServiceState, own: PackageIdentity, env: NodeJS.ProcessEnv): string[] {
  const { age, variables, worker } = serviceDifferences(state, own, env);
  const notes = age === 'same' ? [] : [ageNote(age, state, own)];
  if (variables.length > 0) {
    notes.push(
      `The running service was started with another ${variables.join(', ')} than this shell has; tasks get the service's. To have it use this shell's: \`longhaul down\`, then \`longhaul up\` (open tasks go on).`,
    );
  }
  if (worker) {
    notes.push(
      `The service has no worker that lasts (${withoutLog(worker.message)}): tasks wait until it has. \`longhaul up\` says more.`,
    );
  }
  return notes;
}

function ageNote(age: Exclude<ServiceAge, 'same'>, state: ServiceState, own: PackageIdentity): string {
  const both = `The running service is ${named(state)}; this is ${named(own)}.`;
  switch (age) {
    case 'older':
    case 'rebuilt':
      return `${both} It is used as it is. To replace it by this one: \`longhaul up\` (open tasks go on).`;
    case 'newer':
      return `${both} It is used as it is, and not replaced by an older one. To go back all the same: \`longhaul down\`, then \`longhaul up\` (open tasks go on).`;
  }
}

/** Version, build and place. */
export function named({ version, build, root }: PackageIdentity): string {
  return `Longhaul ${version}, build ${build}, in ${root}`;
}

/** The first line of a child's trouble, without its end mark and what leads over to the log. */
export function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').replace(/[.:]?\s*(The end of its log:)?$/, '');
}
