import type { CliCandidate } from '../../devserver/binary.js';
import { TEMPORAL_CLI } from '../../devserver/pins.js';
import { bad, type Check, type Finding, ok, warn } from './row.js';
import type { CliLook } from './temporal-look.js';

const NEXT = 'Set LONGHAUL_TEMPORAL_CLI to a current `temporal`, or unset it to have a fitting one fetched.';

export const temporalCliCheck: Check = {
  name: 'Temporal CLI',
  look: async ({ cli }) => temporalCliFinding(await cli(), `${process.platform}-${process.arch}`),
};

/** @param platform and architecture as Node names them, such as `linux-x64` */
export function temporalCliFinding({ needed, candidates }: CliLook, platform: string): Finding {
  const usable = candidates.find(({ flaw }) => flaw === undefined);
  const over = candidates.flatMap(({ path, flaw }) => (flaw === undefined ? [] : [`${path}: ${flaw}`]));
  const passedOver = over.length === 0 ? '' : `; passed over ${over.join('; ')}`;
  if (usable) return ok(`${usable.version ?? 'of unknown version'}, ${placeOf(usable)}${passedOver}`);
  if (!needed) return ok('not needed: a server is named');
  if (candidates.some(({ from }) => from === 'LONGHAUL_TEMPORAL_CLI'))
    return bad(`LONGHAUL_TEMPORAL_CLI names ${over.join('')}`, NEXT);
  const { version, megabytes } = TEMPORAL_CLI;
  if (TEMPORAL_CLI.sha256[platform] === undefined)
    return bad(`none${passedOver}, and none can be fetched for ${platform}`, NEXT);
  const found = `none here yet: ${version} is fetched when the service first starts (about ${megabytes} MB, once)${passedOver}`;
  if (over.length === 0) return ok(found);
  return warn(found, 'Update it or take it off the PATH, if what is fetched is not wanted.');
}

function placeOf({ path, from }: CliCandidate): string {
  switch (from) {
    case 'LONGHAUL_TEMPORAL_CLI':
      return `${path} (LONGHAUL_TEMPORAL_CLI)`;
    case 'PATH':
      return `${path} (on PATH)`;
    case 'home':
      return path;
  }
}
