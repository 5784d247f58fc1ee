import { join } from 'node:path';
import { firstLine, named, serviceDifferences } from '../../service/differences.js';
import { type PackageIdentity, packageIdentity } from '../../service/package.js';
import type { ServiceState } from '../../service/service.js';
import { dateTime } from '../text.js';
import { bad, type Check, type Finding, ok, together, warn } from './row.js';
import { type ServiceLook, serverNamed } from './temporal-look.js';

export const serviceCheck: Check = {
  name: 'service',
  look: async ({ env, paths, service }) =>
    serverNamed(env) ? undefined : serviceFinding(await service(), { own: packageIdentity(), env, logs: paths.logs }),
};

interface Caller {
  own: PackageIdentity;
  env: NodeJS.ProcessEnv;
  /** Folder of the service's logs. */
  logs: string;
}

export function serviceFinding(look: ServiceLook, caller: Caller): Finding {
  switch (look.state) {
    case 'running': {
      const { pid, version, started } = look.service;
      const found = `running (process ${pid}, version ${version}) since ${dateTime(started)}`;
      const unlike = together(differences(look.service, caller), ok(''));
      return unlike.state === 'ok' ? ok(found) : { ...unlike, found: `${found}; ${unlike.found}` };
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

/** What sets the running service apart from who calls, and what keeps it from its work. */
function differences(service: ServiceState, { own, env, logs }: Caller): Finding[] {
  const { age, variables, worker } = serviceDifferences(service, own, env);
  const faults: Finding[] = [];
  if (age !== 'same') {
    const replace = age === 'newer' ? '`longhaul down`, then `longhaul up`, puts' : '`longhaul up` puts';
    faults.push(
      warn(`it is ${named(service)}; this is ${named(own)}`, `${replace} this one in its place (open tasks go on).`),
    );
  }
  if (variables.length > 0) {
    faults.push(
      warn(
        `it was started with another ${variables.join(', ')} than this shell has`,
        "Tasks get the service's; `longhaul down`, then `longhaul up`, has it use this shell's (open tasks go on).",
      ),
    );
  }
  if (worker) {
    faults.push(
      bad(
        `its worker did not last ${worker.times} times in a row: ${firstLine(worker.message)}`,
        `Correct what ${join(logs, 'worker.log')} says; the service goes on trying. After a change of settings: \`longhaul down\`, then \`longhaul up\`.`,
      ),
    );
  }
  return faults;
}
