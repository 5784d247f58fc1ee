import { ActivityCancellationType, type ActivityOptions, proxyActivities } from '@temporalio/workflow';
import type { ControlActivities, HostActivities } from '../activities/types.js';

/** A worker that says nothing for this long is taken for dead: it beats every second. */
const HEARTBEAT_TIMEOUT = '15s';

/** Temporal's retries serve lost workers only: for ever, every second. Provider errors are results, not failures. */
const RETRY = { initialInterval: '1s', backoffCoefficient: 1 } as const;

const COMMON = {
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  // Stated, since what happens without it is not what is documented.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: RETRY,
} as const satisfies ActivityOptions;

/** A stream is capped at 30 minutes by the activity itself; a lost dispatch is found by the heartbeat. */
const STREAM_TIMEOUT = '2h';
/** Commands have limits of their own, which hold without a worker. */
const TOOL_TIMEOUT = '30 days';

export type Host = ReturnType<typeof hostActivities>;

/** Activities on the host that owns the workspace; `queue` is absent when that is the workflow's own queue. */
export function hostActivities(queue: string | undefined) {
  const where: { taskQueue?: string } = queue === undefined ? {} : { taskQueue: queue };
  const on = (startToCloseTimeout: ActivityOptions['startToCloseTimeout']) =>
    proxyActivities<HostActivities>({ ...COMMON, ...where, startToCloseTimeout: startToCloseTimeout! });
  const cleanup = proxyActivities<HostActivities>({
    ...COMMON,
    ...where,
    startToCloseTimeout: '10s',
    scheduleToCloseTimeout: '10s',
  });
  return {
    streamModel: on(STREAM_TIMEOUT).streamModel,
    runTool: on(TOOL_TIMEOUT).runTool,
    prepareCall: on('1 minute').prepareCall,
    endProcesses: cleanup.endProcesses,
  };
}

/** Activities that need only the journal, on the workflow's own queue. */
export const control = proxyActivities<ControlActivities>({ ...COMMON, startToCloseTimeout: '1 minute' });
