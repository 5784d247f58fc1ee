import { describe, expect, it } from 'vitest';
import { CALL, said, TASK, TURN } from '../../test/support/cli.js';
import type { TaskEvent } from '../domain/events.js';
import { Activity } from './activity.js';
import { dateTime } from './text.js';

/** The line 8 seconds after the last event; the events are a second apart. */
function lineAfter(events: TaskEvent[], width = 79, more: (activity: Activity) => void = () => {}): string | undefined {
  const activity = new Activity();
  for (const [i, event] of events.entries()) activity.apply({ task: TASK, seq: i + 1, at: 1000 * i, event });
  more(activity);
  return activity.line(1000 * (events.length - 1) + 8000, width);
}

const request = said.request();
const finished: TaskEvent = {
  type: 'say',
  say: 'api_req_finished',
  turn: TURN,
  attempt: 1,
  stop: 'tool_use',
  usage: { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 },
  cost: 0,
};
const parked = (until?: number): TaskEvent => ({
  type: 'status',
  status: 'parked',
  ...(until === undefined ? {} : { until }),
});

describe('what goes on', () => {
  it.each<[string, TaskEvent[]]>([
    ['starting · 8 s', [said.status('running')]],
    ['turn 1 · asking the model · 8 s', [said.status('running'), request]],
    ['turn 1 · 8 s', [request, finished]],
    [
      'turn 1 · 2/5 done · 8 s',
      [request, finished, { type: 'say', say: 'task_progress', text: '', done: 2, total: 5 }],
    ],
    ['paused · 8 s', [request, finished, { type: 'status', status: 'paused' }]],
    ['$ npm test · 8 s', [request, finished, said.command('execute_command npm test')]],
    ['read_file a.ts · 9 s', [request, said.tool('read_file', 'read_file a.ts'), finished]],
    ['turn 1 · 8 s', [request, finished, said.command('true'), said.output('The command finished.')]],
    ['waiting for an answer · 9 s', [request, finished, said.ask('a', 'followup'), said.status('waiting')]],
    ['turn 1 · 8 s', [request, finished, said.ask('a', 'followup'), said.answered('a', 'x')]],
    ['parked · 8 s', [request, parked()]],
    [`parked until ${dateTime(90_000)} · 8 s`, [request, parked(90_000)]],
    ['turn 1 · asking the model · 9 s', [parked(90_000), request, said.status('running')]],
  ])('%s', (line, events) => {
    expect(lineAfter(events)).toBe(line);
  });

  it('is nothing when the task is over', () => {
    expect(lineAfter([request, said.completed('ok')])).toBeUndefined();
  });

  it('tells a pause before the next try from the try', () => {
    const retry = { class: 'rate_limit', message: 'busy', tries: 1, maxTries: 3 } as const;
    const say = (delayMs: number): TaskEvent => ({ type: 'say', say: 'error_retry', turn: TURN, ...retry, delayMs });
    expect(lineAfter([request, say(20_000)])).toBe('turn 1 · the model is asked again in 12 s');
    expect(lineAfter([request, say(2000), said.request(2)])).toBe('turn 1 · asking the model · 8 s');
  });

  it('says that the model writes a call, and that nobody works', () => {
    expect(lineAfter([request], 79, (activity) => activity.partial({ kind: 'tool_input' }))).toBe(
      'turn 1 · the model writes a tool call · 8 s',
    );
    expect(lineAfter([request], 79, (activity) => activity.unserved('no worker', Date.now()))).toMatch(
      /^no worker since \d\d:\d\d:\d\d$/,
    );
  });

  it('keeps the time where the rest is cut, and lets nothing act on the terminal', () => {
    const long = said.command(`execute_command echo \u001b[2J${'x'.repeat(200)}`);
    const line = lineAfter([long], 40);
    expect(line).toHaveLength(40);
    expect(line).toMatch(/^\$ echo ␛\[2Jx+… · 8 s$/);
  });

  it('counts the calls that run at once', () => {
    const other: TaskEvent = { ...said.tool('read_file', 'read_file b'), call: `${CALL}0` } as TaskEvent;
    expect(lineAfter([said.tool('read_file', 'read_file a'), other])).toBe('read_file b and 1 more · 8 s');
  });
});
