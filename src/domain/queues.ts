/** `workflow` decides, `host` does what needs the workspaces on its disk, `all` is both on one queue. */
export type WorkerRole = 'all' | 'workflow' | 'host';

export function decides(role: WorkerRole): boolean {
  return role !== 'host';
}

export function worksInFolders(role: WorkerRole): boolean {
  return role !== 'workflow';
}

/** Task queue of the workflows, and of the activities too where one worker does everything. */
export const TASK_QUEUE = 'longhaul';

/** Task queue of a host whose worker serves only the workspaces on its disk. */
export function hostQueue(host: string): string {
  return `${TASK_QUEUE}-host-${host}`;
}

/** The host of a queue that {@link hostQueue} gives. */
export function hostOf(queue: string): string | undefined {
  return queue.startsWith(hostQueue('')) ? queue.slice(hostQueue('').length) : undefined;
}
