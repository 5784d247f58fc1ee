import { Secrets } from '../model/secrets.js';
import { RunGate } from '../runs/enter.js';
import { type ActivityDeps, activity } from './context.js';
import { appendLog, closeTask, endProcesses, findMessage, listCalls, storeText } from './control.js';
import { prepareCall } from './prepare-call.js';
import { runTool } from './run-tool.js';
import { streamModel } from './stream-model.js';
import type { ControlActivities, HostActivities } from './types.js';

/** All activities, for the task queue of a host and for that of the workflows alike: which runs where is the workflow's choice. */
export function createActivities(options: Omit<ActivityDeps, 'secrets' | 'runs'>): HostActivities & ControlActivities {
  const deps: ActivityDeps = { ...options, secrets: new Secrets(), runs: new RunGate(options.journal) };
  return {
    streamModel: activity(deps, streamModel),
    runTool: activity(deps, runTool),
    prepareCall: activity(deps, prepareCall),
    endProcesses: activity(deps, endProcesses),
    appendLog: activity(deps, appendLog),
    listCalls: activity(deps, listCalls),
    findMessage: activity(deps, findMessage),
    storeText: activity(deps, storeText),
    closeTask: activity(deps, closeTask),
  };
}
