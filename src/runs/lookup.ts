import type { Client } from '@temporalio/client';
import { workflowState } from '../client/workflow-state.js';
import { readHistory } from './history.js';
import type { RunLookup } from './sweep-runs.js';

/** {@link RunLookup} by a client of Temporal. */
export function runLookup(client: Pick<Client, 'workflow'>): RunLookup {
  return {
    current: async (task) => {
      const found = await workflowState(client, task);
      return found.state === 'open' ? found.run : undefined;
    },
    history: (task, run) => readHistory(client, task, run),
  };
}
