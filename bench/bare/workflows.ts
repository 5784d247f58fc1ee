import {
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type * as activities from './activities.js';

const { answer, act, stamp } = proxyActivities<typeof activities>({ startToCloseTimeout: '1 minute' });

/** As many events as a run of a task has at most, so that both are handed over equally often. */
const MAX_EVENTS = 1_500;

/** The least that a durable turn can be: two activities one after the other. */
export async function bareWorkflow(turns: number): Promise<void> {
  for (let left = turns; left > 0; left--) {
    await answer();
    await act();
    if (left > 1 && workflowInfo().historyLength >= MAX_EVENTS) await continueAsNew<typeof bareWorkflow>(left - 1);
  }
}

/** Answers each of so many signals with an activity. @returns when these began, ms since the epoch */
export async function waitAndAct(signals: number): Promise<number[]> {
  let arrived = 0;
  setHandler(defineSignal('go'), () => {
    arrived++;
  });
  const began: number[] = [];
  while (began.length < signals) {
    await condition(() => arrived > began.length);
    began.push(await stamp());
  }
  return began;
}
