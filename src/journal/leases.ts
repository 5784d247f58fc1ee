import { worksInFolders } from '../domain/queues.js';
import type { Context } from './context.js';
import type { Journal } from './journal.js';
import { LOCAL_SERVER } from './rows.js';

export function leaseStore(ctx: Context) {
  const liveWorkers: Journal['liveWorkers'] = () =>
    ctx.db.read((tx) =>
      tx.selectFrom('lease').selectAll().where('until', '>', Date.now()).orderBy('host').orderBy('pid').execute(),
    );
  return {
    async renewLease(lease, ttlMs) {
      const { host, queue, pid, server = LOCAL_SERVER, role = 'all' } = lease;
      const held = { role, queue, server, until: Date.now() + ttlMs };
      await ctx.db.write(async (tx) => {
        await tx.deleteFrom('lease').where('until', '<', Date.now()).execute();
        await tx
          .insertInto('lease')
          .values({ host, pid, ...held })
          .onConflict((on) => on.columns(['host', 'pid']).doUpdateSet(held))
          .execute();
      });
    },

    async dropLease({ host, pid }) {
      await ctx.db.write((tx) => tx.deleteFrom('lease').where('host', '=', host).where('pid', '=', pid).execute());
    },

    liveWorkers,

    async liveHosts() {
      return (await liveWorkers()).filter(({ role }) => worksInFolders(role));
    },
  } satisfies Pick<Journal, 'renewLease' | 'dropLease' | 'liveWorkers' | 'liveHosts'>;
}
