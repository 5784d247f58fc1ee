import type { ControlRequest, PreparedCall } from '../domain/calls.js';
import type { TurnKey } from '../domain/ids.js';
import type { Outcome } from '../domain/outcomes.js';
import type { Verdict } from '../domain/turn.js';
import { toRef } from './answers.js';
import { askPerson } from './ask.js';
import type { Task } from './state.js';

/** What a control tool came to: a verdict is its result; an outcome ends the task. */
export interface ControlEnd {
  verdict?: Verdict;
  outcome?: Outcome;
}

/** Runs a control tool: the workflow itself, no activity but for what it needs of people and of a command. */
export async function runControl(
  task: Task,
  call: PreparedCall,
  turn: TurnKey,
  approve: () => Promise<{ by: 'policy' | 'person' } | undefined>,
): Promise<ControlEnd> {
  const request = call.control!;
  switch (request.do) {
    case 'ask':
      return askFollowup(task, call, request);
    case 'complete':
      return complete(task, call, request, turn, approve);
  }
}

async function askFollowup(
  task: Task,
  call: PreparedCall,
  request: Extract<ControlRequest, { do: 'ask' }>,
): Promise<ControlEnd> {
  task.carried.mistakes = 0;
  if (task.settings.policy.yolo) {
    return { verdict: { block: call.block, status: 'done', note: 'nobody_answers' } };
  }
  const { question } = request;
  const answer = await askPerson(task, {
    kind: 'followup',
    question: 'text' in question ? question.text : call.summary,
    detail: question,
    ...(request.options.length > 0 ? { options: request.options } : {}),
    call: call.call,
  });
  const text = (await toRef(task, answer)) ?? { text: answer.answer };
  return { verdict: { block: call.block, status: 'done', text } };
}

async function complete(
  task: Task,
  call: PreparedCall,
  request: Extract<ControlRequest, { do: 'complete' }>,
  turn: TurnKey,
  approve: () => Promise<{ by: 'policy' | 'person' } | undefined>,
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
