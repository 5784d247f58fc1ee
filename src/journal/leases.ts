import type { Context } from './context.js';
import { type Journal, LOCAL_SERVER } from './journal.js';

export function leaseStore(ctx: Context) {
  return {
    async renewLease(lease, ttlMs) {
      const { host, queue, pid, server = LOCAL_SERVER } = lease;
      const held = { queue, pid, server, until: Date.now() + ttlMs };
      await ctx.db.write((tx) =>
        tx
          .insertInto('lease')
          .values({ host, ...held })
          .onConflict((on) => on.column('host').doUpdateSet(held))
          .execute(),
      );
    },

    async dropLease(host) {
      await ctx.db.write((tx) => tx.deleteFrom('lease').where('host', '=', host).execute());
    },

    async liveHosts() {
      return ctx.db.read((tx) =>
        tx.selectFrom('lease').selectAll().where('until', '>', Date.now()).orderBy('host').execute(),
      );
    },
  } satisfies Pick<Journal, 'renewLease' | 'dropLease' | 'liveHosts'>;
}
