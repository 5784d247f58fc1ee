/** `workflow` decides, `host` does what needs the workspaces on its disk, `all` is both on one queue. */
export type WorkerRole = 'all' | 'workflow' | 'host';

/** Task queue of the workflows, and of the activities too where one worker does everything. */
export const TASK_QUEUE = 'longhaul';

/** Task queue of a host whose worker serves only the workspaces on its disk. */
export function hostQueue(host: string): string {
  return `${TASK_QUEUE}-host-${host}`;
}
