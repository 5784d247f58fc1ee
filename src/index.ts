export type { ForcedAbort } from './client/force.js';
export {
  type AnswerReceipt,
  type ClientOptions,
  type SendReceipt,
  type StartedTask,
  type StartRequest,
  TaskClient,
} from './client.js';
export type { Answer, Ask, AskKind } from './domain/asks.js';
export { ERROR_SLUGS, type ErrorSlug, errorPage, LonghaulError } from './domain/errors.js';
export type { StoredEvent, TaskEvent } from './domain/events.js';
export type { Outcome, TaskResult, TaskStatus, Totals } from './domain/outcomes.js';
export type { ApprovalPolicy } from './domain/policy.js';
export { type RunWorkerOptions, runWorker, type WorkerRole } from './worker.js';
