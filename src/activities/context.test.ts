import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { LonghaulError } from '../domain/errors.js';
import { asFailure } from './context.js';

/** What Temporal is told of an error in that attempt of an activity. */
const told = (err: unknown, attempt: number) =>
  new MockActivityEnvironment({ attempt }).run(async () => asFailure(err, Context.current()));

describe('an error in an activity', () => {
  it.each([new TypeError('x is undefined'), new RangeError('too deep'), new SyntaxError('odd')])(
    'that is a defect ends the task where people see it, the third time: %s',
    async (err) => {
      expect(await told(err, 1)).toBe(err);
      expect(await told(err, 2)).toBe(err);
      const last = await told(err, 3);
      expect(last).toBeInstanceOf(ApplicationFailure);
      expect(last).toMatchObject({ type: 'internal', nonRetryable: true, message: String(err) });
    },
  );

  it('that may pass is tried again for as long as it takes, one that cannot is not', async () => {
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    expect(await told(full, 1_000)).toBe(full);
    const locked = await told(new LonghaulError('journal-locked', 'locked'), 1_000);
    expect(locked).toMatchObject({ type: 'journal-locked', nonRetryable: false });
    const lost = await told(new LonghaulError('journal-lost', 'lost'), 1);
    expect(lost).toMatchObject({ type: 'journal-lost', nonRetryable: true });
  });
});
