import type { Client } from '@temporalio/client';
import type { History } from '@temporalio/common/lib/proto-utils.js';

type HistoryEvent = NonNullable<History['events']>[number];

/** One run of a task's chain. */
export interface TaskRun {
  runId: string;
  events: HistoryEvent[];
  /** As the server counts it. */
  bytes: number;
  history: History;
}

/** The histories of all runs of a workflow, oldest first. */
export async function historiesOf(client: Client, workflowId: string): Promise<TaskRun[]> {
  const runs: TaskRun[] = [];
  const latest = await client.workflow.getHandle(workflowId).describe();
  for (let runId = latest.raw.workflowExecutionInfo?.firstRunId ?? latest.runId; runId !== ''; ) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const history = await handle.fetchHistory();
    const { historySize = 0 } = await handle.describe();
    const events = history.events ?? [];
    runs.push({ runId, events, bytes: historySize, history });
    runId = events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? '';
  }
  return runs;
}

/** Sizes of all payloads in an event, or in a part of one, in bytes. */
export function payloadSizes(value: unknown): number[] {
  if (value === null || typeof value !== 'object') return [0];
  const { data } = value as { data?: unknown };
  if (data instanceof Uint8Array) return [data.byteLength];
  return Object.values(value).flatMap(payloadSizes);
}

/** Bytes that the run before has handed to this one; 0 for a first run. */
export function handedOver({ events }: TaskRun): number {
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  return started?.continuedExecutionRunId ? Math.max(...payloadSizes(started.input)) : 0;
}

/** An activity as the history has it. Times are ms since the epoch, with fractions. */
export interface ActivityTimes {
  type: string;
  scheduled: number;
  /** NaN when it never was. */
  started: number;
  /** NaN when it never was, or failed. */
  completed: number;
}

/** The activities of a chain in the order they were scheduled in. */
export function activityTimes(runs: readonly TaskRun[]): ActivityTimes[] {
  return runs.flatMap(({ events }) => {
    const found = new Map<string, ActivityTimes>();
    for (const event of events) {
      const scheduled = event.activityTaskScheduledEventAttributes;
      const started = event.activityTaskStartedEventAttributes;
      const completed = event.activityTaskCompletedEventAttributes;
      const at = timeOf(event);
      if (scheduled) {
        const type = scheduled.activityType?.name ?? '';
        found.set(String(event.eventId), { type, scheduled: at, started: Number.NaN, completed: Number.NaN });
      }
      const activity = found.get(String((started ?? completed)?.scheduledEventId));
      if (activity && started) activity.started = at;
      if (activity && completed) activity.completed = at;
    }
    return [...found.values()];
  });
}

function timeOf({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6;
}
