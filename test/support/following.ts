import { expect } from 'vitest';
import type { OnAsk } from '../../src/cli/flags.js';
import { follow } from '../../src/cli/follow.js';
import { HumanView } from '../../src/cli/human-view.js';
import { JsonView } from '../../src/cli/json-view.js';
import { StopSignals } from '../../src/cli/signals.js';
import type { Answer } from '../../src/domain/asks.js';
import { LonghaulError } from '../../src/domain/errors.js';
import { said, TASK, type TestHome, type TestIo, testIo } from './cli.js';

/** What the other end does with answers and cancellation: it writes what a task would write. */
function taskEnd(home: TestHome, refuse?: string, away = 0) {
  const answers: Answer[] = [];
  let aborts = 0;
  return {
    answers,
    aborted: () => aborts,
    async answer(_task: string, answer: Answer) {
      if (away-- > 0) throw new LonghaulError('temporal-unreachable', 'Temporal does not answer.');
      if (refuse !== undefined && answers.length === 0) {
        answers.push(answer);
        throw new LonghaulError('ask-refused', refuse);
      }
      answers.push(answer);
      await home.log(said.answered(answer.ask ?? '', answer.text), said.completed('done'));
    },
    async abort() {
      if (away-- > 0) throw new LonghaulError('temporal-unreachable', 'Temporal does not answer.');
      aborts++;
      await home.log(said.ended('cancelled'));
    },
  };
}

export interface Started {
  io: TestIo;
  end: ReturnType<typeof taskEnd>;
  code: Promise<number>;
}

export function startFollowing(
  home: TestHome,
  options: {
    json?: boolean;
    onAsk?: OnAsk | 'prompt';
    from?: number;
    io?: TestIo;
    refuse?: string;
    detachable?: boolean;
    /** Calls that fail because the server is away. */
    away?: number;
    answerForMs?: number;
    serviceRuns?: () => Promise<boolean>;
  } = {},
): Started {
  const io = options.io ?? testIo();
  const end = taskEnd(home, options.refuse, options.away);
  const view = options.json ? new JsonView(io) : new HumanView(io, home.journal, { howToAnswer: true });
  const signals = new StopSignals(io);
  const { from = 1, onAsk = 'exit', detachable = true, answerForMs, serviceRuns } = options;
  const optional = { ...(answerForMs === undefined ? {} : { answerForMs }), ...(serviceRuns && { serviceRuns }) };
  const { journal } = home;
  const code = follow({ io, journal, actions: end, view, signals, task: TASK, from, onAsk, detachable, ...optional });
  return { io, end, code: code.finally(() => signals.dispose()) };
}

export async function until(check: () => boolean): Promise<void> {
  for (let i = 0; i < 500 && !check(); i++) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(check()).toBe(true);
}
