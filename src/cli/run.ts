import { resolve } from 'node:path';
import { type StartedTask, type StartRequest, TaskClient } from '../client.js';
import type { TaskLimits } from '../domain/budget.js';
import { type Approval, DEFAULT_APPROVALS } from '../domain/policy.js';
import type { OnAsk } from './flags.js';
import { type FollowOptions, follow } from './follow.js';
import { HumanView } from './human-view.js';
import { type Io, printLine } from './io.js';
import { JsonView } from './json-view.js';
import { readPrompt } from './prompt-text.js';
import { StopSignals } from './signals.js';
import { Starting } from './starting.js';
import { serviceRuns } from './task-row.js';

export interface RunFlags {
  workspace?: string;
  model?: string;
  profile?: string;
  yolo?: boolean;
  approve?: Approval[];
  maxTurns?: number;
  /** USD */
  maxCost?: number;
  maxTokens?: number;
  maxTime?: number;
  softLimit?: number;
  detach?: boolean;
  json?: boolean;
  onAsk?: OnAsk;
  promptFile?: string;
  /** Time people have before `--on-ask default` answers, in ms. */
  defaultDelayMs?: number;
  onStart?: (started: StartedTask) => void;
  /** Whether the task can go on without this command; default true. */
  detachable?: boolean;
}

/** Starts a task and follows it. @returns the exit code */
export async function runCommand(io: Io, home: string, argument: string | undefined, flags: RunFlags): Promise<number> {
  const request = startRequest(io, await readPrompt(io, argument, flags.promptFile), flags);
  const signals = new StopSignals(io);
  const starting = new Starting(io);
  const client = await TaskClient.local({ home, env: io.env, ...starting.reports });
  try {
    const started = await starting.until(client.start(request));
    const onAsk = onAskOf(io, flags);
    const view = flags.json ? new JsonView(io) : new HumanView(io, client.journal, { howToAnswer: onAsk !== 'prompt' });
    view.head(started);
    flags.onStart?.(started);
    if (flags.detach) {
      if (!flags.json) printLine(io, `Follow it with: ${io.command} attach ${started.task}`);
      return 0;
    }
    const options: FollowOptions = {
      io,
      journal: client.journal,
      actions: client,
      view,
      signals,
      onAsk,
      task: started.task,
      from: 1,
      serviceRuns: serviceRuns(home),
    };
    if (flags.detachable !== undefined) options.detachable = flags.detachable;
    if (flags.defaultDelayMs !== undefined) options.defaultDelayMs = flags.defaultDelayMs;
    return await follow(options);
  } finally {
    signals.dispose();
    await client.close();
  }
}

/** Without a word on it: a person at a terminal is asked; a script ends with the code for "waiting". */
export function onAskOf(io: Io, flags: { onAsk?: OnAsk; json?: boolean }): OnAsk | 'prompt' {
  return flags.onAsk ?? (io.interactive && !flags.json ? 'prompt' : 'exit');
}

function startRequest(io: Io, prompt: string, flags: RunFlags): StartRequest {
  const request: StartRequest = {
    prompt,
    workspace: resolve(io.cwd, flags.workspace ?? '.'),
    policy: { yolo: flags.yolo ?? false, approve: flags.approve ?? [...DEFAULT_APPROVALS] },
    limits: limitsOf(flags),
  };
  if (flags.model !== undefined) request.model = flags.model;
  if (flags.profile !== undefined) request.profile = flags.profile;
  return request;
}

function limitsOf({ maxTurns, maxTokens, maxCost, maxTime, softLimit }: RunFlags): TaskLimits {
  return {
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxCost === undefined ? {} : { maxCost }),
    ...(maxTime === undefined ? {} : { maxTimeMs: maxTime }),
    ...(softLimit === undefined ? {} : { softPercent: softLimit }),
  };
}
