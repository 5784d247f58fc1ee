import { continueAsNew, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type * as activities from './activities.js';

const { answer, act } = proxyActivities<typeof activities>({ startToCloseTimeout: '1 minute' });

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
