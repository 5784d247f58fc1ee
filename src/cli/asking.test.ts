import { describe, expect, it } from 'vitest';
import type { Ask } from '../domain/asks.js';
import { fitted, readWords, refuseWithoutId } from './answer.js';
import { closedWords, defaultAnswer, howToAnswer, needsPerson, readTyped } from './asking.js';

const ask = (more: Partial<Ask>): Ask => ({ id: 'a1', kind: 'followup', question: 'Which?', opened: 0, ...more });

describe('what a person types', () => {
  it('takes an option by its number, and any other text as it is', () => {
    const one = ask({ options: ['red', 'blue'] });
    expect(readTyped(one, '2')).toEqual({ ask: 'a1', answer: 'message', text: 'blue' });
    expect(readTyped(ask({}), '3')).toEqual({ ask: 'a1', answer: 'message', text: '3' });
    expect(readTyped(one, 'yes')).toEqual({ ask: 'a1', answer: 'message', text: 'yes' });
  });

  it('takes y and n for an approval, with words, or words alone', () => {
    const one = ask({ kind: 'command' });
    expect(readTyped(one, ' Y ')).toEqual({ ask: 'a1', answer: 'yes' });
    expect(readTyped(one, 'no, use yarn')).toEqual({ ask: 'a1', answer: 'no', text: 'use yarn' });
    expect(readTyped(one, 'now use yarn')).toEqual({ ask: 'a1', answer: 'message', text: 'now use yarn' });
    expect(readTyped(one, 'yesterday')).toEqual({ ask: 'a1', answer: 'message', text: 'yesterday' });
  });

  it('asks again for a number that no option has', () => {
    for (const typed of ['0', '3', '99']) {
      expect(readTyped(ask({ options: ['red', 'blue'] }), typed)).toContain('the options are 1 to 2');
    }
  });

  it('asks again for a number where there are no options', () => {
    for (const kind of ['tool', 'command', 'mistake_limit_reached', 'api_req_failed'] as const) {
      expect(readTyped(ask({ kind }), ' 3 ')).toContain('neither yes nor no');
      expect(readTyped(ask({ kind }), '3 files are enough')).toMatchObject({ text: '3 files are enough' });
      expect(readTyped(ask({ kind }), '3, 4 and 5')).toMatchObject({ text: '3, 4 and 5' });
    }
  });

  it('asks again for what is nearly yes or no, and takes other words as a text', () => {
    for (const kind of ['tool', 'command', 'mistake_limit_reached', 'api_req_failed'] as const) {
      for (const typed of ['yse', 'Yep', 'nn', 'yse, do it']) {
        expect(readTyped(ask({ kind }), typed)).toContain('neither yes nor no');
      }
      expect(readTyped(ask({ kind }), 'maybe')).toEqual({ ask: 'a1', answer: 'message', text: 'maybe' });
    }
    expect(readTyped(ask({}), 'yep')).toEqual({ ask: 'a1', answer: 'message', text: 'yep' });
  });

  it('asks again for an empty line', () => {
    expect(readTyped(ask({}), '  ')).toContain('Please type');
  });
});

describe('unattended', () => {
  it('allows no effect, and takes the first option', () => {
    expect(defaultAnswer(ask({ options: ['red', 'blue'] }))).toMatchObject({ answer: 'message', text: 'red' });
    expect(defaultAnswer(ask({ kind: 'command' }))).toEqual({ ask: 'a1', answer: 'no', by: 'default' });
    expect(defaultAnswer(ask({ kind: 'tool', default: 'yes' }))).toMatchObject({ answer: 'yes', by: 'default' });
  });

  it('leaves a parked wait to its deadline', () => {
    const parked = ask({ kind: 'api_req_failed', deadline: 1, default: 'yes' });
    expect(needsPerson(parked)).toBe(false);
    expect(defaultAnswer(parked)).toBeUndefined();
    expect(needsPerson(ask({ kind: 'api_req_failed' }))).toBe(true);
    expect(needsPerson(ask({ kind: 'api_req_failed', deadline: 1, default: 'no' }))).toBe(true);
  });

  it('says how to answer, with the JSON that came with the ask', () => {
    const how = howToAnswer(
      { type: 'ask', ask: ask({ kind: 'command' }), reply: '{"ask":"a1","answer":"yes"}' },
      'task1',
      'node lh.js',
    );
    expect(how).toEqual({ command: 'node lh.js answer task1 a1 yes|no|"TEXT"', json: '{"ask":"a1","answer":"yes"}' });
  });
});

describe('an ask that is settled', () => {
  const words = (more: object, kind?: Ask['kind']) =>
    closedWords({ type: 'ask_closed', ask: 'a1', by: 'person', answer: 'message', ...more }, kind);

  it('says who answered what', () => {
    expect(words({ text: 'blue' }, 'followup')).toBe('answered by a person through Temporal: blue');
    expect(words({ answer: 'yes', text: 'but gently' }, 'tool')).toBe(
      'answered by a person through Temporal: yes, but gently',
    );
    const ada = { who: 'Ada\u001b[2J', from: 'cli', attached: { blob: 'a', bytes: 1 } };
    expect(words({ answer: 'yes', ...ada }, 'tool')).toBe(
      'answered by Ada\u241b[2J from a command line: yes (with attachments)',
    );
    expect(words({ answer: 'no', by: 'default' }, 'tool')).toBe('answered by default: no');
    expect(words({ answer: 'no', by: 'cancelled' }, 'tool')).toBe('not answered: it is no longer asked');
  });

  it('says that a text in place of an approval means no', () => {
    for (const kind of ['tool', 'command'] as const) {
      expect(words({ text: 'maybe' }, kind)).toBe(
        'answered by a person through Temporal: not done; the model gets the text: maybe',
      );
    }
    expect(words({ text: 'maybe' }, 'mistake_limit_reached')).toBe('answered by a person through Temporal: maybe');
  });
});

describe('an answer and the ask it is for', () => {
  const question = ask({ id: 'ask-1', options: ['red', 'blue'] });
  const approval = ask({ id: 'ask-2', kind: 'command' });
  const said = (text: string, to: Ask, read = true) => fitted(readWords([to.id, text]), [question, approval], read);
  const slug = (act: () => unknown) => {
    try {
      return act();
    } catch (err) {
      return (err as { slug: string }).slug;
    }
  };

  it('takes a number as the option it names', () => {
    expect(said('1', question)).toEqual({ ask: 'ask-1', answer: 'message', text: 'red' });
    expect(fitted(readWords(['2']), [question], true)).toEqual({ answer: 'message', text: 'blue' });
    expect(said('1', question, false)).toEqual({ ask: 'ask-1', answer: 'message', text: '1' });
    expect(slug(() => said('3', question))).toBe('bad-answer');
  });

  it('reads y and n for an approval, and refuses what is nearly that', () => {
    expect(said('y', approval)).toEqual({ ask: 'ask-2', answer: 'yes' });
    expect(said('n, use yarn', approval)).toEqual({ ask: 'ask-2', answer: 'no', text: 'use yarn' });
    expect(fitted(readWords(['y']), [approval], true)).toEqual({ answer: 'yes' });
    expect(slug(() => said('yse', approval))).toBe('bad-answer');
    expect(slug(() => said('3', approval))).toBe('bad-answer');
    expect(said('3', approval, false)).toMatchObject({ answer: 'message', text: '3' });
    expect(said('yse', approval, false)).toEqual({ ask: 'ask-2', answer: 'message', text: 'yse' });
    expect(said('maybe', approval)).toEqual({ ask: 'ask-2', answer: 'message', text: 'maybe' });
  });

  it('is refused where it needs an id and has none, with the commands that have it', () => {
    const refused = (open: Ask[], answer = readWords(['no'])) =>
      slug(() => refuseWithoutId(answer, open, ({ id }) => `longhaul answer t ${id} no`));
    expect(refused([approval])).toBe('ask-refused');
    expect(refused([question, approval])).toBe('ask-refused');
    for (const open of [[question], []]) expect(refused(open)).toBeUndefined();
    expect(refused([approval], readWords(['ask-2', 'no']))).toBeUndefined();
  });

  it('takes the words for a question as they are', () => {
    expect(said('yes', question)).toEqual({ ask: 'ask-1', answer: 'message', text: 'yes' });
    expect(said('n', question)).toEqual({ ask: 'ask-1', answer: 'message', text: 'n' });
  });
});

describe('words of the answer command', () => {
  it('reads an optional ask id and the answer', () => {
    expect(readWords([], undefined, true)).toEqual({ answer: 'message' });
    expect(readWords(['ask-1a'], undefined, true)).toEqual({ ask: 'ask-1a', answer: 'message' });
    expect(readWords(['ask me again'], undefined, true)).toEqual({ answer: 'message', text: 'ask me again' });
    expect(readWords(['yes'])).toEqual({ answer: 'yes' });
    expect(readWords(['no', 'use yarn'])).toEqual({ answer: 'no', text: 'use yarn' });
    expect(readWords(['ask-1a', 'no'])).toEqual({ ask: 'ask-1a', answer: 'no' });
    expect(readWords(['a1', 'NO'])).toEqual({ ask: 'a1', answer: 'no' });
    expect(readWords(['a1', 'yes'], 'but gently')).toEqual({ ask: 'a1', answer: 'yes', text: 'but gently' });
    expect(readWords(['take the blue one'])).toEqual({ answer: 'message', text: 'take the blue one' });
    expect(readWords(['{"ask":"a1","answer":"no","text":"x"}'])).toEqual({ ask: 'a1', answer: 'no', text: 'x' });
  });

  it('takes --text as the answer itself', () => {
    expect(readWords([], '1')).toEqual({ answer: 'message', text: '1' });
    expect(readWords(['a1'], '1')).toEqual({ ask: 'a1', answer: 'message', text: '1' });
    expect(readWords(['no'], 'use yarn')).toEqual({ answer: 'no', text: 'use yarn' });
  });

  it('refuses what it cannot read', () => {
    const slug = (words: string[], text?: string) => {
      try {
        return readWords(words, text);
      } catch (err) {
        return (err as { slug: string }).slug;
      }
    };
    expect(slug(['{"ask":'])).toBe('bad-answer');
    expect(slug(['{"answer":3}'])).toBe('bad-answer');
    expect(slug([' '])).toBe('bad-answer');
    expect(slug(['a1'], ' ')).toBe('bad-answer');
    expect(slug([])).toBe('bad-flag');
    expect(slug(['a1', 'take', 'blue'])).toBe('bad-flag');
    expect(slug(['a1', 'blue'], 'text')).toBe('bad-flag');
  });
});
