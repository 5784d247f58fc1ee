import { defineSearchAttributeKey } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { Ask } from '../domain/asks.js';
import type { TaskStatus } from '../domain/outcomes.js';
import type { CallReady } from '../domain/turn.js';

/** From a streaming answer to its workflow; not for people. */
export const callReady = defineSignal<[CallReady]>('callReady');

/**
 * Answers an open ask: `{"ask":"ID","answer":"yes"|"no"|"message","text":"…"}` or a bare text. An update, so that whoever
 * answers hears whether it was taken; a signal of the same name for when no worker is up.
 */
export const answerUpdate = defineUpdate<AnswerReply, [unknown]>('answer');
export const answerSignal = defineSignal<[unknown]>('answer');

/** Leaves a message for the next request: `{"text":"…"}` or a bare text. Only an update: a flood of signals kills a worker. */
export const sendUpdate = defineUpdate<SendReply, [unknown]>('send');

export const statusQuery = defineQuery<StatusReply>('status');

export interface AnswerReply {
  ask: string;
  /** The same client id had been applied before. */
  duplicate: boolean;
}

export interface SendReply {
  queued: number;
  duplicate: boolean;
}

export interface StatusReply {
  status: TaskStatus;
  turns: number;
  /** USD */
  cost: number;
  asks: Ask[];
  queued: number;
}

export const SEARCH_STATUS = defineSearchAttributeKey('LonghaulStatus', 'KEYWORD');
export const SEARCH_ASK = defineSearchAttributeKey('LonghaulAsk', 'KEYWORD');
export const SEARCH_WAITING_SINCE = defineSearchAttributeKey('LonghaulWaitingSince', 'DATETIME');

/** Types of the failures that handlers refuse with; the client turns them into errors for people. */
export const ASK_REFUSED = 'AskRefused';
export const TASK_CLOSING = 'TaskClosing';
export const TASK_BUSY = 'TaskBusy';
export const BAD_MESSAGE = 'BadMessage';
