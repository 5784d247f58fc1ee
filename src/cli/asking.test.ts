import { describe, expect, it } from 'vitest';
import type { Ask } from '../domain/asks.js';
import { readWords } from './answer.js';
import { defaultAnswer, howToAnswer, needsPerson, readTyped } from './asking.js';

const ask = (more: Partial<Ask>): Ask => ({ id: 'a1', kind: 'followup', question: 'Which?', opened: 0, ...more });

describe('what a person types', () => {
  it('takes an option by its number, and any other text as it is', () => {
    const one = ask({ options: ['red', 'blue'] });
    expect(readTyped(one, '2')).toEqual({ ask: 'a1', answer: 'message', text: 'blue' });
    expect(readTyped(one, '3')).toEqual({ ask: 'a1', answer: 'message', text: '3' });
    expect(readTyped(one, 'yes')).toEqual({ ask: 'a1', answer: 'message', text: 'yes' });
  });

  it('takes y and n for an approval, with words, or words alone', () => {
    const one = ask({ kind: 'command' });
    expect(readTyped(one, ' Y ')).toEqual({ ask: 'a1', answer: 'yes' });
    expect(readTyped(one, 'no, use yarn')).toEqual({ ask: 'a1', answer: 'no', text: 'use yarn' });
    expect(readTyped(one, 'now use yarn')).toEqual({ ask: 'a1', answer: 'message', text: 'now use yarn' });
    expect(readTyped(one, 'yesterday')).toEqual({ ask: 'a1', answer: 'message', text: 'yesterday' });
  });

  it('asks again for an empty line', () => {
    expect(readTyped(ask({}), '  ')).toContain('Please type');
  });
});

describe('unattended', () => {
  it('allows no effect, and takes the first option', () => {
    expect(defaultAnswer(ask({ options: ['red', 'blue'] }))).toMatchObject({ answer: 'message', text: 'red' });
    expect(defaultAnswer(ask({ kind: 'command' }))).toEqual({ ask: 'a1', answer: 'no' });
    expect(defaultAnswer(ask({ kind: 'tool', default: 'yes' }))).toEqual({ ask: 'a1', answer: 'yes' });
  });

  it('leaves a parked wait to its deadline', () => {
    const parked = ask({ kind: 'api_req_failed', deadline: 1 });
    expect(needsPerson(parked)).toBe(false);
    expect(defaultAnswer(parked)).toBeUndefined();
    expect(needsPerson(ask({ kind: 'api_req_failed' }))).toBe(true);
  });

  it('says how to answer, with the JSON that came with the ask', () => {
    const how = howToAnswer(
      { type: 'ask', ask: ask({ kind: 'command' }), reply: '{"ask":"a1","answer":"yes"}' },
      'task1',
    );
    expect(how).toEqual({ command: 'longhaul answer task1 a1 yes|no|"TEXT"', json: '{"ask":"a1","answer":"yes"}' });
  });
});

describe('words of the answer command', () => {
  it('reads an optional ask id and the answer', () => {
    expect(readWords(['yes'])).toEqual({ answer: 'yes' });
    expect(readWords(['a1', 'NO'])).toEqual({ ask: 'a1', answer: 'no' });
    expect(readWords(['a1', 'yes'], 'but gently')).toEqual({ ask: 'a1', answer: 'yes', text: 'but gently' });
    expect(readWords(['take the blue one'])).toEqual({ answer: 'message', text: 'take the blue one' });
    expect(readWords(['{"ask":"a1","answer":"no","text":"x"}'])).toEqual({ ask: 'a1', answer: 'no', text: 'x' });
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
    expect(slug(['a1', 'take', 'blue'])).toBe('bad-flag');
    expect(slug(['a1', 'blue'], 'text')).toBe('bad-flag');
  });
});
