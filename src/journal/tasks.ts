import type { Selectable } from 'kysely';
import { isOpen, OPEN_STATUSES, type TaskStatus } from '../domain/outcomes.js';
import type { TaskInput } from '../domain/task.js';
import type { Context, Tx } from './context.js';
import { conflict, lost } from './errors.js';
import { type Journal, Superseded, WorkspaceInUse } from './journal.js';
import { LOCAL_SERVER, type TaskRow } from './rows.js';
import type { JournalSchema } from './schema.js';
import { wrote } from './wake.js';

/** Tasks by prefix, at most this many. */
const FOUND = 10;

export function taskStore(ctx: Context) {
  return {
    async createTask(row) {
      const now = Date.now();
      const fixed = {
        workspace: JSON.stringify(row.workspace),
        model: row.model,
        title: JSON.stringify(row.title),
        input: row.input,
        server: row.server ?? LOCAL_SERVER,
        profile: row.profile ?? null,
        root: row.root ?? row.task,
      };
      await ctx.db.write(async (tx) => {
        const stored = await findTask(tx, row.task);
        if (stored) {
          const same = Object.entries(fixed).every(([name, value]) => stored[name as keyof typeof fixed] === value);
          if (!same) throw conflict(`task ${row.task}`);
          return;
        }
        await checkFree(tx, fixed.workspace, fixed.root);
        const start = { status: 'starting' as const, since: now, turns: 0, cost: 0, carried: null, run: null, seq: 0 };
        const sums = { tree_turns: 0, tree_tokens: 0, tree_cost: 0 };
        await tx
          .insertInto('task')
          .values({ id: row.task, created: now, ...fixed, ...start, ...sums })
          .execute();
      });
      wrote(ctx.db.path);
    },

    async getTask(task) {
      const row = await ctx.db.read((tx) => findTask(tx, task));
      return row && taskRow(row);
    },

    async listTasks(filter = {}) {
      const rows = await ctx.db.read((tx) => {
        let query = tx.selectFrom('task').selectAll().orderBy('created', 'desc').orderBy('id', 'desc');
        if (filter.statuses) query = query.where('status', 'in', filter.statuses);
        if (filter.limit !== undefined) query = query.limit(filter.limit);
        return query.execute();
      });
      return rows.map(taskRow);
    },

    async findTasks(prefix) {
      const rows = await ctx.db.read((tx) =>
        tx
          .selectFrom('task')
          .select('id')
          .where('id', '>=', prefix)
          .where('id', '<', `${prefix}\u{10ffff}`)
          .orderBy('id')
          .limit(FOUND)
          .execute(),
      );
      return rows.map((row) => row.id);
    },

    async saveCarried(task, carried) {
      await ctx.db.write(async (tx) => {
        const { numUpdatedRows } = await tx
          .updateTable('task')
          .set({ carried })
          .where('id', '=', task)
          .executeTakeFirst();
        if (numUpdatedRows === 0n) throw lost(`task ${task}`);
      });
      wrote(ctx.db.path);
    },

    async setProfile(task, profile) {
      const known = await ctx.db.read((tx) =>
        tx.selectFrom('task').select('profile').where('id', '=', task).executeTakeFirst(),
      );
      if (known?.profile === profile) return;
      await ctx.db.write((tx) => tx.updateTable('task').set({ profile }).where('id', '=', task).execute());
    },

    async usedProfiles(since) {
      const rows = await ctx.db.read((tx) =>
        tx
          .selectFrom('task')
          .select(['profile', 'input'])
          .where((e) => e.or([e('status', 'in', [...OPEN_STATUSES]), e('since', '>', since)]))
          .execute(),
      );
      return new Set(rows.flatMap((row) => row.profile ?? profileIn(row.input) ?? []));
    },
  } satisfies Pick<
    Journal,
    'createTask' | 'getTask' | 'listTasks' | 'findTasks' | 'saveCarried' | 'setProfile' | 'usedProfiles'
  >;
}

/** The profile that a task was started with, for rows that have none of their own. */
function profileIn(input: string): string | undefined {
  return (JSON.parse(input) as Partial<TaskInput>).settings?.profile;
}

/** One open task tree a folder. @param workspace as it is stored @throws WorkspaceInUse */
export async function checkFree(tx: Tx, workspace: string, root: string): Promise<void> {
  const other = await tx
    .selectFrom('task')
    .select('id')
    .where('workspace', '=', workspace)
    .where('root', '!=', root)
    .where('status', 'in', [...OPEN_STATUSES])
    .executeTakeFirst();
  if (other) throw new WorkspaceInUse(other.id, JSON.parse(workspace));
}

/** Sets the status people see; `since` moves only when it changes. */
export async function setStatus(tx: Tx, task: string, status: TaskStatus, now: number): Promise<void> {
  await tx
    .updateTable('task')
    .set({ status, since: now })
    .where('id', '=', task)
    .where('status', '!=', status)
    .execute();
}

export function findTask(tx: Tx, task: string) {
  return tx.selectFrom('task').selectAll().where('id', '=', task).executeTakeFirst();
}

function taskRow(row: Selectable<JournalSchema['task']>): TaskRow {
  return {
    task: row.id,
    created: row.created,
    workspace: JSON.parse(row.workspace),
    model: row.model,
    server: row.server,
    title: JSON.parse(row.title),
    status: row.status,
    since: row.since,
    turns: row.turns,
    cost: row.cost,
    input: row.input,
    carried: row.carried,
    seq: row.seq,
    run: row.run ?? null,
    profile: row.profile ?? profileIn(row.input) ?? null,
  };
}

/** @throws Superseded when the task has gone on in another run than `run`, or has ended */
export async function checkRun(tx: Tx, task: string, run: string | undefined): Promise<void> {
  if (run === undefined) return;
  const row = await tx.selectFrom('task').select(['run', 'status']).where('id', '=', task).executeTakeFirst();
  if (row && ((row.run !== null && row.run !== run) || !isOpen(row.status)))
    throw new Superseded(`run ${run} of task ${task}`);
}
