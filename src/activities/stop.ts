import type { Context } from '@temporalio/activity';
import { workflowState } from '../client/workflow-state.js';

/** How an execution learns that it has to stop, and why. */
export interface Stop {
  /** Fires when `kind` is known. */
  signal: AbortSignal;
  /** Only a real cancel may end processes or undo; all else leaves them to a successor. */
  kind(): 'cancel' | 'detach';
}

/** So long Temporal may take to say which run of the task is the newest, ms. */
const ASK_MS = 2_000;

/**
 * Follows the execution's cancellation. A server that tells workers of a cancel at once does the same when a run was
 * terminated, and a reset terminates the run it replaces: what is running may then belong to the new run.
 */
export function followStop({ cancellationSignal, client, info }: Context, cancelRequested: () => boolean): Stop {
  const stopping = new AbortController();
  let kind: 'cancel' | 'detach' = 'detach';
  const stop = async () => {
    if (cancelRequested()) kind = (await isReplaced()) ? 'detach' : 'cancel';
    stopping.abort(cancellationSignal.reason);
  };
  const isReplaced = async () => {
    const { workflowId = '', runId } = info.workflowExecution ?? {};
    const asked = workflowState(client, workflowId).then((found) => found.state === 'open' && found.run !== runId);
    return Promise.race([asked.catch(() => false), new Promise<false>((no) => setTimeout(no, ASK_MS, false).unref())]);
  };
  if (cancellationSignal.aborted) void stop();
  else cancellationSignal.addEventListener('abort', () => void stop(), { once: true });
  return { signal: stopping.signal, kind: () => kind };
}
