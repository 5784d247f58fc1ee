import type { Context } from './context.js';
import type { Journal } from './journal.js';

export function leaseStore(ctx: Context) {
  return {
    async renewLease(lease, ttlMs) {
      const row = { ...lease, until: Date.now() + ttlMs };
      await ctx.db.write((tx) =>
        tx
          .insertInto('lease')
          .values(row)
          .onConflict((on) => on.column('host').doUpdateSet({ queue: row.queue, pid: row.pid, until: row.until }))
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
