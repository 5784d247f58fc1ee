import type { ControlRequest, PreparedCall } from '../domain/calls.js';
import type { Outcome } from '../domain/outcomes.js';
import type { TurnInProgress } from '../domain/task.js';
import type { Verdict } from '../domain/turn.js';
import { askFollowup } from './asks/followup.js';
import { respondWithPlan } from './asks/plan-mode-respond.js';
import type { Task } from './state.js';

/** What a control tool came to: a verdict is its result; an outcome ends the task. */
export interface ControlEnd {
  verdict?: Verdict;
  outcome?: Outcome;
}

type Approve = () => Promise<{ by: 'policy' | 'person' } | undefined>;

/** Runs a control tool: the workflow itself, no activity but for what it needs of people and of a command. */
export async function runControl(
  task: Task,
  call: PreparedCall,
  progress: TurnInProgress,
  approve: Approve,
): Promise<ControlEnd> {
  const request = call.control!;
  switch (request.do) {
    case 'ask':
      task.carried.mistakes = 0;
      return { verdict: await askFollowup(task, call, request) };
    case 'plan_respond':
      task.carried.mistakes = 0;
      return { verdict: await respondWithPlan(task, call, request) };
    case 'act_respond':
      return { verdict: actRespond(task, call, progress) };
    case 'complete':
      return complete(task, call, request, progress, approve);
  }
}

/** The model says how it goes on; nobody waits. Only in act mode, and not twice in a row. */
function actRespond({ carried }: Task, { block }: PreparedCall, { mode }: TurnInProgress): Verdict {
  if (mode !== 'act') {
    carried.mistakes++;
    return { block, status: 'error', note: 'only_in_act_mode' };
  }
  if (carried.lastActRespond) return { block, status: 'error', note: 'do_real_work' };
  carried.mistakes = 0;
  carried.lastActRespond = true;
  return { block, status: 'done', note: 'go_on' };
}

async function complete(
  task: Task,
  call: PreparedCall,
  request: Extract<ControlRequest, { do: 'complete' }>,
  { turn }: TurnInProgress,
  approve: Approve,
): Promise<ControlEnd> {
  task.carried.mistakes = 0;
  if (request.command) {
    const approved = await approve();
    if (!approved) return {};
    await task.host.runTool.executeWithOptions({ summary: call.summary }, [
      {
        ...task.ref,
        turn,
        call: call.call,
        tool: call.tool,
        policy: task.settings.policy,
        ...(approved.by === 'person' ? { approved: { outside: false } } : {}),
      },
    ]);
  }
  return {
    outcome: { outcome: 'completed', result: request.result },
    verdict: { block: call.block, status: 'done', note: 'result_taken' },
  };
}
