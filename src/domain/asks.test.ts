import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Ask, type AskKind, findAsk, MAX_INLINE_ANSWER, type Refusal, readAnswer } from './asks.js';

const ask = (id: string, kind: AskKind): Ask => ({ id, kind, question: 'q?', opened: 0 });

const REF = { blob: 'ab'.repeat(32), bytes: 9 };

describe('readAnswer', () => {
  it.each([
    ['yes', { answer: 'yes' }],
    [' No ', { answer: 'no' }],
    ['use tabs', { answer: 'message', text: 'use tabs' }],
    ['{"ask":"a","answer":"yes"}', { ask: 'a', answer: 'yes' }],
    [
      { ask: 'a', answer: 'yesButtonClicked', text: 'go' },
      { ask: 'a', answer: 'yes', text: 'go' },
    ],
    [
      { answer: 'message', text: 'hi' },
      { answer: 'message', text: 'hi' },
    ],
    [
      { answer: 'no', by: 'default' },
      { answer: 'no', by: 'default' },
    ],
    [{ text: 'hi' }, { answer: 'message', text: 'hi' }],
    [{ textRef: REF }, { answer: 'message', textRef: REF }],
    [{ attachments: REF }, { answer: 'message', attachments: REF }],
    [
      { answer: 'no', attachments: REF, who: ` ${'é'.repeat(200)}`, from: 'web' },
      { answer: 'no', attachments: REF, who: `${'é'.repeat(99)}…`, from: 'web' },
    ],
  ])('reads %j', (raw, answer) => {
    expect(readAnswer(raw)).toEqual({ answer });
  });

  it.each([
    null,
    7,
    [],
    '',
    '  ',
    '{"ask":',
    {},
    { answer: 3 },
    { ask: 1, answer: 'yes' },
    { answer: 'tabs, please' },
    { answer: 'ye', ask: 'a' },
    { answer: 'message' },
    { textRef: 'x' },
    { answer: 'yes', by: 'somebody' },
    { textRef: { blob: '../../etc/passwd', bytes: 3 } },
    { textRef: { blob: '00', bytes: 3 } },
    { answer: 'yes', attachments: [REF] },
    { answer: 'yes', from: 'anywhere' },
    { answer: 'yes', who: 7 },
  ])('refuses %j as malformed', (raw) => {
    expect(readAnswer(raw)).toMatchObject({ refusal: { reason: 'malformed' } });
  });

  it.each([
    [{ anwser: 'yes' }, 'there is no "anwser" in an answer (did you mean "answer"?)'],
    [{ ask: 'a', answer: 'yes', note: 'x' }, 'there is no "note" in an answer'],
    [{ answer: 'yes', images: ['x.png'] }, 'with `longhaul answer --image FILE --file FILE`'],
    [{ files: [] }, 'with `longhaul answer --image FILE --file FILE`'],
  ])('says what is wrong with %j', (raw, why) => {
    expect(readAnswer(raw)).toMatchObject({ refusal: { message: expect.stringContaining(why) } });
  });

  it('refuses a text that would not fit a payload', () => {
    const text = 'x'.repeat(MAX_INLINE_ANSWER + 1);
    for (const raw of [text, { answer: 'yes', text }])
      expect(readAnswer(raw)).toMatchObject({ refusal: { reason: 'too_long' } });
  });

  it('never throws, whatever arrives', () => {
    fc.assert(
      fc.property(fc.anything(), (raw) => {
        const read = readAnswer(raw);
        expect('answer' in read || read.refusal.message.length > 0).toBe(true);
      }),
    );
  });
});

describe('findAsk', () => {
  it('needs the id for what allows an effect, and only for that', () => {
    for (const kind of ['tool', 'command'] as const) {
      expect(findAsk({ answer: 'yes' }, [ask('a', kind)], [])).toMatchObject({ refusal: { reason: 'needs_id' } });
      expect(findAsk({ answer: 'yes', ask: 'a' }, [ask('a', kind)], [])).toMatchObject({ ask: { id: 'a' } });
    }
    const { refusal } = findAsk({ answer: 'no' }, [ask('a', 'tool')], []) as { refusal: Refusal };
    expect(refusal.message).toContain('{"ask":"a","answer":"yes|no"}');
    for (const kind of ['followup', 'mistake_limit_reached', 'api_req_failed'] as const) {
      expect(findAsk({ answer: 'yes' }, [ask('a', kind)], [])).toMatchObject({ ask: { id: 'a' } });
    }
  });

  it('says why an answer fits nothing', () => {
    const open = [ask('a', 'followup'), ask('b', 'followup')];
    expect(findAsk({ answer: 'yes' }, [], [])).toMatchObject({ refusal: { reason: 'no_open_ask' } });
    expect(findAsk({ answer: 'yes' }, open, [])).toMatchObject({ refusal: { reason: 'ambiguous' } });
    expect(findAsk({ answer: 'yes', ask: 'z' }, open, [])).toMatchObject({ refusal: { reason: 'stale_ask' } });
    expect(findAsk({ answer: 'yes', ask: 'z' }, open, ['z'])).toMatchObject({
      refusal: { reason: 'already_answered' },
    });
  });
});
