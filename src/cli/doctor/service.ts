import { packageVersion } from '../../service/package.js';
import type { ServiceState } from '../../service/service.js';
import { dateTime } from '../text.js';
import { type Check, type Finding, ok, warn } from './row.js';
import { type ServiceLook, serverNamed } from './temporal-look.js';

export const serviceCheck: Check = {
  name: 'service',
  look: async ({ env, service }) =>
    serverNamed(env) ? undefined : serviceFinding(await service(), { version: packageVersion() }),
};

/** @param own what calls this */
export function serviceFinding(look: ServiceLook, own: Pick<ServiceState, 'version'>): Finding {
  switch (look.state) {
    case 'running': {
      const { pid, version, started } = look.service;
      const found = `running (process ${pid}, version ${version}) since ${dateTime(started)}`;
      const unlike = differences(look.service, own);
      if (unlike.length === 0) return ok(found);
      return warn(`${found}; ${unlike.join('; ')}`, '`longhaul down`, then `longhaul up`: open tasks go on.');
    }
    case 'between':
      return ok(`starting or ending (process ${look.pid})`);
    case 'killed': {
      const pids = look.left.map(({ pid }) => pid).join(', ');
      const left = look.left.length === 0 ? 'its files are' : `its files and process ${pids} are`;
      return warn(
        `it was killed, and ${left} still there`,
        '`longhaul up` clears that up and starts it again; `longhaul down` only clears it up.',
      );
    }
    case 'failed': {
      const { at, message, next } = look.failure;
      return warn(`its last start failed (${dateTime(at)}): ${message}`, next ?? 'Try `longhaul up`.');
    }
    case 'down':
      return ok('not running; it starts by itself with run, attach, answer, send and abort');
  }
}

/** What sets the running service apart from who calls, each a clause for people. */
function differences(service: ServiceState, own: Pick<ServiceState, 'version'>): string[] {
  return service.version === own.version ? [] : [`this is version ${own.version}`];
}
