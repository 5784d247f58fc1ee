import { describe, expect, it } from 'vitest';
import { INTERRUPTED_BEFORE_END } from '../../src/prompts/notices.js';
import { type Body, crashDifferences, withoutIds } from './same-conversation.js';

const text = (words: string) => ({ type: 'text', text: words });
const use = (id: string, name = 'read_file') => ({ type: 'tool_use', id, name, input: {} });
const result = (id: string, words: string) => ({ type: 'tool_result', tool_use_id: id, content: [text(words)] });
const user = (...content: object[]) => ({ role: 'user', content });
const model = (...content: object[]) => ({ role: 'assistant', content });

const conversation = (...messages: object[]): Body => withoutIds({ max_tokens: 5, messages }, '/tmp/ws-1');
const marker = text(INTERRUPTED_BEFORE_END);
const none = { interrupted: 0 };
const begin = user(text('Do it.'));
const wanted = conversation(
  begin,
  model(text('I look.'), use('a'), use('b')),
  user(result('a', 'one'), result('b', 'two')),
);

describe('what a crash may change in a conversation', () => {
  it('is neither the ids nor the folder', () => {
    const other = conversation(
      begin,
      model(text('I look.'), use('x'), use('y')),
      user(result('x', 'one'), result('y', 'two')),
    );
    expect(crashDifferences(other, wanted, none)).toEqual([]);
    const inOther = withoutIds({ messages: [user(text('In /tmp/ws-2'))] }, '/tmp/ws-2');
    expect(
      crashDifferences(inOther, withoutIds({ messages: [user(text('In /tmp/ws-1'))] }, '/tmp/ws-1'), none),
    ).toEqual([]);
  });

  it('is the end of an answer behind a call, where the log says so', () => {
    const cut = conversation(begin, model(text('I look.'), use('a'), marker), user(result('a', 'one')));
    expect(crashDifferences(cut, wanted, { interrupted: 1 })).toEqual(['an answer was cut after 2 of its 3 blocks']);
    expect(() => crashDifferences(cut, wanted, none)).toThrow(/interrupted/);
    const whole = conversation(
      begin,
      model(text('I look.'), use('a'), use('b'), marker),
      user(result('a', 'one'), result('b', 'two')),
    );
    expect(crashDifferences(whole, wanted, { interrupted: 1 })).toEqual(['an answer was cut after 3 of its 3 blocks']);
  });

  it('is a result that says what came between, for the tool that may say so', () => {
    const other = conversation(
      begin,
      model(text('I look.'), use('a'), use('b')),
      user(result('a', 'one'), result('b', 'two again')),
    );
    const restated = [{ tool: 'read_file', text: 'two again' }];
    expect(crashDifferences(other, wanted, { ...none, restated })).toHaveLength(1);
    expect(() =>
      crashDifferences(other, wanted, { ...none, restated: [{ ...restated[0]!, tool: 'list_files' }] }),
    ).toThrow();
    expect(() => crashDifferences(other, wanted, none)).toThrow();
  });

  it.each([
    ['another result', conversation(begin, model(text('I look.'), use('a'), marker), user(result('a', 'other')))],
    ['no result', conversation(begin, model(text('I look.'), use('a'), marker), user())],
    [
      'two results',
      conversation(begin, model(text('I look.'), use('a'), marker), user(result('a', 'one'), result('a', 'one'))),
    ],
    [
      'another call',
      conversation(begin, model(text('I look.'), use('a', 'list_files'), marker), user(result('a', 'one'))),
    ],
    ['a cut that is not said', conversation(begin, model(text('I look.'), use('a')), user(result('a', 'one')))],
    ['an answer without a call', conversation(begin, model(text('I look.'), marker), user())],
    ['a message more', { ...wanted, messages: [...wanted.messages, ...conversation(begin).messages] }],
    ['another request', { ...wanted, max_tokens: 4 }],
  ])('is not %s', (_, body) => {
    expect(() => crashDifferences(body, wanted, { interrupted: 1 })).toThrow();
  });
});
