import { createHash } from 'node:crypto';
import type { Context } from './context.js';
import type { Journal } from './journal.js';

export function seenStore(ctx: Context) {
  const lastSeen: Journal['lastSeen'] = async (task, path) => {
    const row = await ctx.db.read((tx) =>
      tx
        .selectFrom('seen')
        .select('content')
        .where('task', '=', task)
        .where('path', '=', keyOf(path))
        .executeTakeFirst(),
    );
    return row?.content;
  };
  return {
    lastSeen,

    async noteSeen(task, path, content) {
      if ((await lastSeen(task, path)) === content) return;
      await ctx.db.write(async (tx) => {
        await tx
          .insertInto('seen')
          .values({ task, path: keyOf(path), content })
          .onConflict((on) => on.columns(['task', 'path']).doUpdateSet({ content }))
          .execute();
      });
    },
  } satisfies Pick<Journal, 'lastSeen' | 'noteSeen'>;
}

/** A path may hold what text columns do not keep. */
function keyOf(path: string): string {
  return createHash('sha256').update(path, 'utf16le').digest('hex');
}
