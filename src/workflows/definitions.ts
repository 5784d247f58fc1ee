import { defineSearchAttributeKey } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type {
  AnswerReply,
  LimitsReply,
  ModeReply,
  PauseReply,
  RewindReply,
  SendReply,
  StatusReply,
} from '../domain/replies.js';
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

/** `"plan"` or `"act"`: the mode from the next turn on. */
export const modeUpdate = defineUpdate<ModeReply, [unknown]>('mode');

/** `{"maxTurns":40,"maxCost":5,"maxTokens":null,…}`: limits to change; null takes one away. */
export const limitsUpdate = defineUpdate<LimitsReply, [unknown]>('limits');

/** No new request and no new call until `unpause`; what is running ends as it would. Without an argument. */
export const pauseUpdate = defineUpdate<PauseReply, [unknown]>('pause');
export const unpauseUpdate = defineUpdate<PauseReply, [unknown]>('unpause');

/** `{"message":"ID or number","text":"optional"}`: takes the conversation back to that message. */
export const rewindUpdate = defineUpdate<RewindReply, [unknown]>('rewind');

export const statusQuery = defineQuery<StatusReply>('status');

export const SEARCH_STATUS = defineSearchAttributeKey('LonghaulStatus', 'KEYWORD');
export const SEARCH_ASK = defineSearchAttributeKey('LonghaulAsk', 'KEYWORD');
export const SEARCH_WAITING_SINCE = defineSearchAttributeKey('LonghaulWaitingSince', 'DATETIME');
