import { join } from 'node:path';
import { isServed } from '../../client/served.js';
import { isOpen } from '../../domain/outcomes.js';
import { decides, hostOf, worksInFolders } from '../../domain/queues.js';
import { type HostLease, LOCAL_SERVER } from '../../journal/rows.js';
import { processRef } from '../../service/processes.js';
import { quoted } from '../called-as.js';
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
  const open = tasks.filter((group) => group.server === server && isOpen(group.status));
  if (live.length > 0) return livingFinding(live, open);
  const waiting = sum(open);
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

/** Of the workers that live: whether they can do all that open tasks and new ones need. */
function livingFinding(live: readonly HostLease[], open: JournalFacts['tasks']): Finding {
  const found = live
    .map(({ host, pid, role }) => `${host} (process ${pid}${role === 'all' ? '' : `, ${role}`})`)
    .join(', ');
  const stuck = open.filter((group) => !isServed(group, live));
  const judge = stuck.length > 0 ? bad : warn;
  const tail = stuck.length > 0 ? `, and ${count(sum(stuck), 'task')} cannot go on` : '';
  const home = 'with the same LONGHAUL_HOME as here.';
  if (!live.some(({ role }) => decides(role)))
    return judge(`${found}; none decides${tail}`, `Start one with \`longhaul worker --role workflow\`, ${home}`);
  if (!live.some(({ role }) => worksInFolders(role)))
    return judge(`${found}; none works in folders${tail}`, `Start one with \`longhaul worker --role host\`, ${home}`);
  if (stuck.length === 0) return ok(found);
  const queues = [...new Set(stuck.map(({ queue }) => queue))];
  const starts = queues.map((queue) => `\`longhaul worker${flagsFor(queue)}\``).join(', ');
  return bad(
    `${found}; none works on ${queues.join(', ')}${tail}`,
    `Start it where the folders are: ${starts}, ${home}`,
  );
}

/** What starts a worker on a queue. */
function flagsFor(queue: string): string {
  const host = hostOf(queue);
  return host === undefined ? '' : ` --role host --host ${quoted(host)}`;
}

const sum = (groups: JournalFacts['tasks']): number => groups.reduce((total, group) => total + group.count, 0);
