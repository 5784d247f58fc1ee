import type { SayEvent, StoredEvent } from '../../src/domain/events.js';
import type { RecordedRequest } from '../../src/fake-model/index.js';
import type { ActivityTimes } from '../../test/support/histories.js';

/** ms since the epoch of what can be seen of one turn from outside, in the order it happens in. */
type Mark = [phase: string, at: number];

/** What was seen of a task: by Temporal, by the journal, by the model. */
export interface Seen {
  activities: readonly ActivityTimes[];
  log: readonly StoredEvent[];
  requests: readonly RecordedRequest[];
}

/** Where the time of each turn went, in ms by phase. The last turn, which completes the task, is left out. */
export function phasesOf({ activities, log, requests }: Seen): Map<string, number>[] {
  const began = sayings(log, 'api_req_started');
  const stored = sayings(log, 'api_req_finished');
  const results = [...sayings(log, 'tool_result'), ...sayings(log, 'command_output')].sort((a, b) => a - b);
  const streams = activities.flatMap(({ type }, at) => (type === 'streamModel' ? [at] : []));
  return streams.slice(0, -1).map((at, turn) => {
    const stream = activities[at]!;
    const tool = activities.slice(at + 1, streams[turn + 1]).find(({ type }) => type === 'runTool');
    const next = activities[streams[turn + 1]!]!;
    const marks: Mark[] = [
      ['stream dispatch', stream.started],
      ['gather and claim', began[turn]!],
      ['request to arrival', requests[turn]!.at],
      ['answer by the model', requests[turn]!.ended?.at ?? Number.NaN],
      ['answer read and stored', stored[turn]!],
    ];
    if (tool === undefined) marks.push(['tool, in the same activity', Math.max(stored[turn]!, results[turn]!)]);
    marks.push(['stream reported', stream.completed]);
    if (tool !== undefined) {
      marks.push(
        ['workflow task before the tool', tool.scheduled],
        ['tool dispatch', tool.started],
        ['tool', results[turn]!],
        ['tool reported', tool.completed],
      );
    }
    marks.push(['workflow task before the request', next.scheduled]);
    return differences(stream.scheduled, marks);
  });
}

function differences(from: number, marks: readonly Mark[]): Map<string, number> {
  let last = from;
  const found = new Map<string, number>();
  for (const [phase, at] of marks) {
    found.set(phase, at - last);
    last = at;
  }
  return found;
}

function sayings(log: readonly StoredEvent[], say: SayEvent['say']): number[] {
  return log.flatMap(({ at, event }) => (event.type === 'say' && event.say === say ? [at] : []));
}
