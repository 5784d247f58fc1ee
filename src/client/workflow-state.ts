import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { WorkflowState } from './reconcile.js';

/** What Temporal says of a task's newest run. @throws what the server answers besides "not found" */
export async function workflowState(client: Pick<Client, 'workflow'>, task: string): Promise<WorkflowState> {
  try {
    const { status, runId } = await client.workflow.getHandle(task).describe();
    switch (status.name) {
      case 'COMPLETED':
      case 'FAILED':
      case 'TIMED_OUT':
        return { state: 'closed', how: 'failed' };
      case 'CANCELLED':
      case 'TERMINATED':
        return { state: 'closed', how: 'cancelled' };
      default:
        return { state: 'open', run: runId };
    }
  } catch (err) {
    if (err instanceof WorkflowNotFoundError) return { state: 'absent' };
    throw err;
  }
}
