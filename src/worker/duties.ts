import type { Client } from '@temporalio/client';
import { reconcileAll } from '../client/reconcile.js';
import { workflowState } from '../client/workflow-state.js';
import { LonghaulError } from '../domain/errors.js';
import { isOpen } from '../domain/outcomes.js';
import type { WorkerRole } from '../domain/queues.js';
import type { Journal } from '../journal/journal.js';
import type { HostLease, TaskRow } from '../journal/rows.js';
import { sweepProfiles } from '../model/sweep-profiles.js';
import { sweepCommands } from '../runner/sweep.js';
import { releaseDead } from '../runs/dead-workers.js';
import { enterRun } from '../runs/enter.js';
import { runLookup } from '../runs/lookup.js';
import { RunSweeper } from '../runs/sweep-runs.js';
import { homePaths } from '../settings/paths.js';

/** A worker whose lease has run out is taken for dead. */
const LEASE_TTL_MS = 10_000;
const LEASE_RENEW_MS = 3_000;
/** Also at start. */
const SWEEP_MS = 10_000;
const RECONCILE_MS = 30_000;
const TIDY_PROFILES_MS = 3600_000;
const CHECK_JOURNAL_MS = 3_000;
/** Within the life of a dead worker's lease. */
const DEAD_WORKERS_MS = 3_000;

export interface DutiesOptions {
  journal: Journal;
  client: Client;
  home: string;
  host: string;
  role: WorkerRole;
  queue: string;
  /** The Temporal server, as the journal names it. */
  server: string;
  /** Called when the journal is no longer the one that is open. */
  onLost: (err: LonghaulError) => void;
}

/** What a worker does beside its tasks, as long as it lives. */
export interface Duties {
  /** Ends them; the lease of the worker is gone then. */
  stop(): Promise<void>;
}

/** Says that the worker lives, and looks after what is left of tasks, runs and other workers. */
export async function startDuties(options: DutiesOptions): Promise<Duties> {
  const { journal, client, home, host, role, queue, server, onLost } = options;
  const timers = [
    watchJournal(journal, onLost),
    reconcileTasks(journal, server, client),
    every(DEAD_WORKERS_MS, () => releaseDead({ journal, client, host, server }).catch(() => undefined)),
  ];
  const clear = () => {
    for (const timer of timers) clearInterval(timer);
  };
  try {
    const lease = await holdLease(journal, { host, role, queue, server, pid: process.pid });
    if (role !== 'workflow')
      timers.push(sweep(journal, server, client, homePaths(home).commands), tidyProfiles(home, journal));
    return {
      stop: async () => {
        clear();
        await lease.drop();
      },
    };
  } catch (err) {
    clear();
    throw err;
  }
}

interface HeldLease {
  drop(): Promise<void>;
}

/** Says as long as the worker runs that its host is served. */
async function holdLease(journal: Journal, lease: Omit<HostLease, 'until'>): Promise<HeldLease> {
  let renewing = journal.renewLease(lease, LEASE_TTL_MS);
  await renewing;
  const timer = setInterval(() => {
    renewing = journal.renewLease(lease, LEASE_TTL_MS).catch(() => undefined);
  }, LEASE_RENEW_MS);
  return {
    drop: async () => {
      clearInterval(timer);
      await renewing;
      await journal.dropLease(lease).catch(() => undefined);
    },
  };
}

/** Ends tasks in the journal whose workflow was terminated or never came about, so that their folders are free. */
function reconcileTasks(journal: Journal, server: string, client: Client): NodeJS.Timeout {
  const look = (task: string) => workflowState(client, task);
  // a task that was reset and waits for somebody starts no activity that would find it out
  const otherRun = ({ task }: TaskRow, run: string) => enterRun(journal, client, task, run);
  return every(RECONCILE_MS, () => reconcileAll({ journal, server, look, otherRun }).catch(() => undefined));
}

/** Notices when the journal is no longer the one it has open: what is written would be seen by nobody. */
function watchJournal(journal: Journal, onLost: (err: LonghaulError) => void): NodeJS.Timeout {
  return every(CHECK_JOURNAL_MS, async () => {
    try {
      await journal.check();
    } catch (err) {
      if (LonghaulError.is(err) && err.slug === 'journal-lost') onLost(err);
    }
  });
}

/** Runs `act` now and then, never twice at once. */
function every(ms: number, act: () => Promise<unknown>): NodeJS.Timeout {
  let busy = false;
  const once = async () => {
    if (busy) return;
    busy = true;
    await act();
    busy = false;
  };
  void once();
  return setInterval(() => void once(), ms);
}

/** Ends what belongs to tasks that have ended or were reset: Temporal's Terminate and Reset run no cleanup. */
function sweep(journal: Journal, server: string, client: Client, commandsDir: string): NodeJS.Timeout {
  const isOpenTask = async (task: string) => {
    const row = await journal.getTask(task);
    return row !== undefined && isOpen(row.status);
  };
  const isOpenHere = async (task: string) => (await journal.getTask(task))?.server === server && isOpenTask(task);
  const runs = new RunSweeper({ commandsDir, isOpen: isOpenHere, lookup: runLookup(client) });
  return every(SWEEP_MS, async () => {
    await sweepCommands({ commandsDir, isOpen: isOpenTask }).catch(() => undefined);
    await runs.sweep().catch(() => undefined);
  });
}

function tidyProfiles(home: string, journal: Journal): NodeJS.Timeout {
  return every(TIDY_PROFILES_MS, async () => {
    await sweepProfiles({ home, journal }).catch(() => undefined);
  });
}
