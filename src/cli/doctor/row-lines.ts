import { withCommand } from '../called-as.js';
import { wrap } from '../flow.js';
import type { Paint, Style } from '../io.js';
import { neutralLine } from '../neutral.js';
import { count, displayWidth, pad } from '../text.js';
import type { Row, RowState } from './row.js';

export interface RowLook {
  paint: Paint;
  /** Columns. */
  width: number;
  /** How this command line is called. */
  command: string;
}

const MARK: Readonly<Record<RowState, { sign: string; style: Style }>> = {
  ok: { sign: '✓', style: 'green' },
  warn: { sign: '!', style: 'yellow' },
  bad: { sign: '✗', style: 'red' },
};

/** Least columns for what was found, also on a narrow terminal. */
const LEAST = 20;

/** The table for people: a row each, below it what to do, and at the end how it stands. */
export function rowLines(rows: readonly Row[], { paint, width, command }: RowLook): string[] {
  const names = Math.max(...rows.map(({ name }) => displayWidth(name)));
  const indent = ' '.repeat(names + 4);
  const room = Math.max(LEAST, width - indent.length);
  const lines = rows.flatMap(({ name, state, found, next }) => {
    const { sign, style } = MARK[state];
    const [first = '', ...more] = wrap(neutralLine(found), room).split('\n');
    const remedy = next === undefined ? [] : wrap(withCommand(neutralLine(next), command), room - 2).split('\n');
    return [
      `${paint(style, sign)} ${pad(name, names)}  ${first}`,
      ...more.map((line) => indent + line),
      ...remedy.map((line, i) => indent + paint('bold', `${i === 0 ? '→' : ' '} ${line}`)),
    ];
  });
  return [...lines, '', wrap(summary(rows), width)];
}

/** For programs: what is not well, in one text. */
export function problemOf({ name, state, found, next }: Row): string[] {
  if (state === 'ok') return [];
  return [`${name}: ${found}.${next === undefined ? '' : ` ${next}`}`];
}

function summary(rows: readonly Row[]): string {
  const broken = rows.filter(({ state }) => state === 'bad').length;
  const doubtful = rows.filter(({ state }) => state === 'warn').length;
  const parts = [
    ...(broken > 0 ? [`${count(broken, 'thing')} ${broken === 1 ? 'does' : 'do'} not work`] : []),
    ...(doubtful > 0 ? [`${count(doubtful, 'thing')} ${doubtful === 1 ? 'deserves' : 'deserve'} a look`] : []),
  ];
  return parts.length === 0 ? 'All is well.' : `${parts.join(', ')}.`;
}
