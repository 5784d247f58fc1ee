import type { Client } from '@temporalio/client';
import type { TaskClient } from '../../src/client.js';
import type { TaskResult } from '../../src/domain/outcomes.js';
import type { ApprovalPolicy } from '../../src/domain/policy.js';
import { YOLO } from '../../test/support/world.js';
import { newTag, type Plan, promptOf } from './plan.js';
import { check } from './report.js';

/** Starts a task that follows the plan, by default one that asks for nothing. @returns its id */
export async function startTask(
  client: TaskClient,
  workspace: string,
  plan: Omit<Plan, 'tag'>,
  policy: ApprovalPolicy = YOLO,
): Promise<string> {
  const { task } = await client.start({ prompt: promptOf({ tag: newTag(), ...plan }), workspace, policy });
  return task;
}

/** Waits for a task to complete. @throws BenchFailed when it ends otherwise, or after other than `turns` turns */
export async function completed(temporal: Client, task: string, turns: number): Promise<void> {
  const result = (await temporal.workflow.getHandle(task).result()) as TaskResult;
  check(result.outcome === 'completed', `Task ${task} has ended as ${result.outcome}, not as completed.`);
  check(result.totals.turns === turns, `Task ${task} has taken ${result.totals.turns} turns, not ${turns}.`);
}
