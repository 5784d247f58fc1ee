import { join } from 'node:path';
import { isOpen } from '../../domain/outcomes.js';
import { LOCAL_SERVER } from '../../journal/rows.js';
import { processRef } from '../../service/processes.js';
import { count } from '../text.js';
import type { JournalFacts } from './journal-look.js';
import { bad, type Check, type Finding, ok, warn } from './row.js';
import { type ServiceLook, serverKey } from './temporal-look.js';

export const workersCheck: Check = {
  name: 'workers',
  look: async ({ server, service, journal, paths }) => {
    const key = serverKey(await server());
    const look = await journal();
    if (key === undefined || look.state !== 'readable') return undefined;
    return workersFinding(key, await service(), look.facts, paths.logs);
  },
};

/**
 * @param server as the journal names it
 * @param logs folder of the service's logs
 */
export function workersFinding(
  server: string,
  service: ServiceLook,
  { tasks, leases }: Pick<JournalFacts, 'tasks' | 'leases'>,
  logs: string,
  now = Date.now(),
): Finding {
  const here = leases.filter((lease) => lease.server === server);
  const live = here.filter(({ until }) => until > now);
  if (live.length > 0) return ok(live.map(({ host, pid }) => `${host} (process ${pid})`).join(', '));
  const open = tasks.filter((group) => group.server === server && isOpen(group.status));
  const waiting = open.reduce((sum, group) => sum + group.count, 0);
  const judge = waiting > 0 ? bad : warn;
  const tail = waiting > 0 ? `, and ${count(waiting, 'task')} ${waiting === 1 ? 'is' : 'are'} open` : '';
  if (server !== LOCAL_SERVER)
    return judge(`none alive${tail}`, 'Start one with `longhaul worker`, with the same LONGHAUL_HOME as here.');
  switch (service.state) {
    case 'running': {
      const { workerPid } = service.service;
      const hung =
        workerPid !== undefined && here.some(({ pid }) => pid === workerPid) && processRef(workerPid) !== undefined;
      const found = hung ? `process ${workerPid} gives no sign of life${tail}` : `none alive${tail}`;
      const again = hung ? 'The service replaces it within half a minute' : 'The service starts one again';
      return judge(
        found,
        `${again}; if it does not, \`longhaul down\` and \`longhaul up\`. ${join(logs, 'worker.log')} says more.`,
      );
    }
    case 'between':
      return ok(`none yet: the service is starting or ending${tail}`);
    case 'killed':
    case 'failed':
    case 'down':
      return waiting > 0
        ? warn(`none alive${tail}`, 'Start the service with `longhaul up`, and they go on.')
        : ok('none; the service brings one when there is work');
  }
}
