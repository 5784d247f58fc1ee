import { defineSearchAttributeKey } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AnswerReply, SendReply, StatusReply } from '../domain/replies.js';
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

export const SEARCH_STATUS = defineSearchAttributeKey('LonghaulStatus', 'KEYWORD');
export const SEARCH_ASK = defineSearchAttributeKey('LonghaulAsk', 'KEYWORD');
export const SEARCH_WAITING_SINCE = defineSearchAttributeKey('LonghaulWaitingSince', 'DATETIME');
