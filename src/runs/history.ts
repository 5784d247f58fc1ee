import type { Client } from '@temporalio/client';
import type { AskEvent, StatusEvent, TaskEvent } from '../domain/events.js';
import type { CallKey, TaskId, TurnKey } from '../domain/ids.js';
import type { TaskInput } from '../domain/task.js';

/** What the history of a run says of it so far. */
export interface RunHistory {
  /** It was made by a reset, from a copy of another run's beginning. */
  isReset: boolean;
  /** The run that continued as this one. */
  before: string | undefined;
  /** Calls whose tools were scheduled. */
  calls: ReadonlySet<CallKey>;
  /** Asks it has put into the task log and not closed there. */
  asks: AskEvent[];
  /** The status it has told last. */
  status: StatusEvent | undefined;
  /** The request made last: its turn, and the turn's number in the task. */
  request: { turn: TurnKey; number: number } | undefined;
  /** Turns that were finished when the run began. */
  turnsBefore: number;
}

type Reads = Pick<Client, 'workflow'>;

/** @throws WorkflowNotFoundError, and what else the server answers */
export async function readHistory({ workflow }: Reads, task: TaskId, run: string): Promise<RunHistory> {
  const { events } = await workflow.getHandle(task, run).fetchHistory();
  const started = events?.[0]?.workflowExecutionStartedEventAttributes;
  const calls = new Set<CallKey>();
  const said: TaskEvent[] = [];
  let request: RunHistory['request'];
  for (const { activityTaskScheduledEventAttributes: scheduled } of events ?? []) {
    const input = firstOf(scheduled?.input) as ScheduledInput | undefined;
    switch (scheduled?.activityType?.name) {
      case 'runTool':
        if (input?.call !== undefined) calls.add(input.call);
        break;
      case 'appendLog':
        said.push(...(input?.events ?? []));
        break;
      case 'streamModel':
        if (input?.turn !== undefined) request = { turn: input.turn, number: input.number ?? 1 };
        break;
    }
  }
  const { state } = (firstOf(started?.input) ?? {}) as Partial<TaskInput>;
  return {
    isReset: Boolean(started?.originalExecutionRunId) && started?.originalExecutionRunId !== run,
    before: started?.continuedExecutionRunId || undefined,
    calls,
    asks: openAmong(said),
    status: said.findLast((event) => event.type === 'status'),
    request,
    turnsBefore: (state?.turns ?? 0) + (state?.inProgress === undefined ? 0 : 1),
  };
}

/** What the inputs of activities hold that is looked at here. */
interface ScheduledInput {
  call?: CallKey;
  turn?: TurnKey;
  number?: number;
  events?: TaskEvent[];
}

function openAmong(said: readonly TaskEvent[]): AskEvent[] {
  const open = new Map<string, AskEvent>();
  for (const event of said) {
    if (event.type === 'ask') open.set(event.ask.id, event);
    if (event.type === 'ask_closed') open.delete(event.ask);
  }
  return [...open.values()];
}

/** The first argument, which is plain JSON. */
function firstOf(args: { payloads?: { data?: Uint8Array | null }[] | null } | null | undefined): unknown {
  const data = args?.payloads?.[0]?.data;
  return data ? JSON.parse(Buffer.from(data).toString('utf8')) : undefined;
}
