import { setTimeout as sleep } from 'node:timers/promises';
import { isAsk, isClosed, startWorld, type World, YOLO } from '../test/support/world.js';
import type { waitAndAct } from './bare/workflows.js';
import { type BenchOptions, progress } from './support/options.js';
import { startProgram } from './support/program.js';
import { type Aim, check, type Report } from './support/report.js';
import { median, percentile } from './support/stats.js';
import { now, startTimedModel, type TimedAnswer } from './support/timed-model.js';

export const about =
  'from the model to the tool while the answer streams, from an answer to the tool, from a delta to a viewer';

const BARE_QUEUE = 'bench-bare';
/** The answer goes on for so long after its call, ms. */
const STREAMS_ON_MS = 250;
const DELTAS = 100;
/** Between two deltas, ms: as a quick model streams. */
const DELTA_MS = 15;

export async function run(options: BenchOptions): Promise<Report> {
  const samples = options.rounds ?? (options.quick ? 3 : 60);
  const world = await startWorld();
  const bare = await startProgram(new URL('./bare/worker-process.ts', import.meta.url), [
    world.server.address,
    BARE_QUEUE,
  ]);
  try {
    await world.worker();
    const bareMs = await bareTimes(world, samples);
    progress('bare: done');
    const toolMs = await toolTimes(world, samples, true);
    const lastToolMs = await toolTimes(world, samples, false);
    progress('tools: done');
    const askMs = await askTimes(world, samples);
    progress('asks: done');
    const viewerMs = await viewerTimes(world, options.quick ? 10 : DELTAS);
    return reportOf({ bareMs, toolMs, lastToolMs, askMs, viewerMs });
  } finally {
    await bare.stop();
    await world.stop();
  }
}

/** ms from sending a signal to the start of the activity that it brings about. */
async function bareTimes({ temporal }: World, samples: number): Promise<number[]> {
  const workflowId = `bench-latency-${process.pid}`;
  const handle = await temporal.workflow.start<typeof waitAndAct>('waitAndAct', {
    args: [samples],
    taskQueue: BARE_QUEUE,
    workflowId,
  });
  const sent: number[] = [];
  for (let at = 0; at < samples; at++) {
    await sleep(100);
    sent.push(now());
    await handle.signal('go');
  }
  const started = await handle.result();
  return started.map((time, at) => time - sent[at]!);
}

const command = (answer: TimedAnswer, n: number) =>
  answer.call('execute_command', { command: `true ${n}`, requires_approval: false });

/**
 * ms from the last byte of a call to the start of its tool, while the answer goes on.
 * @param isFollowed a text begins right behind the call; otherwise the stream stays open and brings nothing for a while
 */
async function toolTimes(world: World, samples: number, isFollowed: boolean): Promise<number[]> {
  const written: number[] = [];
  const model = await startTimedModel(async (answer, n) => {
    if (n >= samples) return complete(answer);
    written.push(command(answer, n));
    if (isFollowed) answer.beginText();
    await sleep(STREAMS_ON_MS);
    if (!isFollowed) answer.beginText();
    answer.text('And so on.');
    answer.endText();
    answer.end('tool_use');
  });
  try {
    const started = await commandsOf(world, model.url, {});
    check(started.length === samples, `There were ${started.length} commands, not ${samples}.`);
    return started.map((time, at) => time - written[at]!);
  } finally {
    await model.close();
  }
}

/** ms from the moment a person sends "yes" to the start of the tool. */
async function askTimes(world: World, samples: number): Promise<number[]> {
  const model = await startTimedModel(async (answer, n) => {
    if (n >= samples) return complete(answer);
    command(answer, n);
    answer.end('tool_use');
  });
  const answered: number[] = [];
  try {
    const started = await commandsOf(world, model.url, {
      policy: { yolo: false, approve: [] },
      answer: async (yes) => {
        await sleep(50);
        answered.push(now());
        await yes();
      },
    });
    return started.map((time, at) => time - answered[at]!);
  } finally {
    await model.close();
  }
}

/** Runs a task to its end. @returns when its commands began, as its log has it */
async function commandsOf(
  world: World,
  url: string,
  { policy = YOLO, answer }: { policy?: typeof YOLO; answer?: (yes: () => Promise<unknown>) => Promise<void> },
): Promise<number[]> {
  const client = await world.client({ url });
  const { task } = await client.start({ prompt: 'Do it.', workspace: world.workspace(), policy });
  const began: number[] = [];
  const stop = new AbortController();
  for await (const item of world.journal.tail(task, 0, stop.signal)) {
    if (!('event' in item)) continue;
    const { at, event } = item.event;
    if (event.type === 'say' && event.say === 'command') began.push(at);
    if (isAsk(event)) await answer?.(() => client.answer(task, { ask: event.ask.id, answer: 'yes' }));
    if (isClosed(event)) stop.abort();
  }
  return began;
}

/** ms from a delta's leaving the model to its arrival at a viewer in another process than the worker's. */
async function viewerTimes(world: World, deltas: number): Promise<number[]> {
  const written: number[] = [];
  const model = await startTimedModel(async (answer, n) => {
    if (n > 0) return complete(answer);
    answer.beginText();
    for (let at = 0; at < deltas; at++) {
      written.push(answer.text(`[${at}] `));
      await sleep(DELTA_MS);
    }
    answer.endText();
    answer.end('end_turn');
  });
  try {
    const client = await world.client({ url: model.url });
    const { task } = await client.start({ prompt: 'Do it.', workspace: world.workspace(), policy: YOLO });
    const seen = new Map<number, number>();
    const stop = new AbortController();
    for await (const item of world.journal.tail(task, 0, stop.signal)) {
      if ('event' in item) {
        const { event } = item.event;
        if (event.type === 'say' && event.say === 'text') note(event.text, seen);
        if (isClosed(event)) stop.abort();
      } else note(item.partial.text, seen);
    }
    check(seen.size === deltas, `The viewer has seen ${seen.size} deltas, not ${deltas}.`);
    return written.map((time, at) => seen.get(at)! - time);
  } finally {
    await model.close();
  }
}

function note(text: string, seen: Map<number, number>): void {
  for (const [, number] of text.matchAll(/\[(\d+)\]/g)) {
    if (!seen.has(Number(number))) seen.set(Number(number), now());
  }
}

function complete(answer: TimedAnswer): void {
  answer.call('attempt_completion', { result: 'done' });
  answer.end('tool_use');
}

interface Times {
  bareMs: number[];
  toolMs: number[];
  lastToolMs: number[];
  askMs: number[];
  viewerMs: number[];
}

function reportOf({ bareMs, toolMs, lastToolMs, askMs, viewerMs }: Times): Report {
  const bare = median(bareMs);
  const more = (what: string, times: number[]): Aim => ({
    aim: `${what}: at most 25 ms more than a bare signal to its activity (median)`,
    measured: median(times) - bare,
    most: 25,
    unit: 'ms',
  });
  const row = (what: string, times: number[]) => [what, median(times), percentile(times, 95), median(times) / bare];
  return {
    aims: [
      more('call to tool', toolMs),
      more('call to tool, nothing behind it', lastToolMs),
      more('answer to tool', askMs),
      { aim: 'delta to viewer: ≤ 80 ms (median)', measured: median(viewerMs), most: 80, unit: 'ms' },
    ],
    tables: [
      {
        title: `Latency, ms (${bareMs.length} samples, ${viewerMs.length} deltas)`,
        columns: ['', 'median', '95 %', '× bare'],
        rows: [
          row('bare: signal to activity', bareMs),
          row('last byte of a call to its tool, while the answer streams', toolMs),
          row('the same, while nothing follows the call', lastToolMs),
          row('"yes" to the tool', askMs),
          row('delta to viewer', viewerMs),
        ],
      },
    ],
    notes: [
      'A call begins when the log says so, just before the tool does anything; the model, the viewer and the person are one process, the worker is another.',
      'A call is held back for 15 ms where nothing follows it, since the output limit may still cut it.',
    ],
  };
}
