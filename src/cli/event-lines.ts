import type { Ask } from '../domain/asks.js';
import type { TaskEvent } from '../domain/events.js';
import { closedWords } from './asking.js';
import type { Style } from './io.js';
import { limitsWords } from './limits.js';
import { neutralLine } from './neutral.js';

/** What is one line of its own in the view of a task. */
export interface EventLine {
  style: Style;
  text: string;
  /** Of the lines that it wraps to. */
  indent: string;
}

type LineEvent = Extract<TaskEvent, { type: 'ask_closed' | 'ask_reminder' | 'pause' | 'mode' | 'limits' }>;

/** @param ask that it is about, where it is known */
export function lineOf(event: LineEvent, ask: Ask | undefined): EventLine {
  switch (event.type) {
    case 'ask_closed':
      return { style: 'cyan', text: `  ${closedWords(event, ask?.kind)}`, indent: '  ' };
    case 'ask_reminder': {
      const question = neutralLine(ask?.question ?? event.ask);
      const text = `  still waiting for an answer (reminder ${event.count}): ${question}`;
      return { style: 'yellow', text, indent: '    ' };
    }
    case 'pause':
      return {
        style: 'cyan',
        text: event.paused ? '  to be paused when this step has ended' : '  to go on',
        indent: '  ',
      };
    case 'mode':
      return { style: 'cyan', text: `  ${event.mode} mode from the next turn on`, indent: '  ' };
    case 'limits':
      return { style: 'cyan', text: `  limits from now on: ${limitsWords(event.limits)}`, indent: '    ' };
  }
}
