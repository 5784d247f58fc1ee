export type * from './client/types.js';
export { TaskClient } from './client.js';
export type { Answer, Ask, AskKind } from './domain/asks.js';
export type { BlobRef, TextRef } from './domain/blocks.js';
export type { TaskLimits } from './domain/budget.js';
export { ERROR_SLUGS, type ErrorSlug, errorPage, LonghaulError } from './domain/errors.js';
export type { Partial, StoredEvent, TaskEvent } from './domain/events.js';
export type { Outcome, TaskStatus, Totals } from './domain/outcomes.js';
export type { Approval, ApprovalPolicy } from './domain/policy.js';
export type { Usage } from './domain/usage.js';
export {
  createWorker,
  type LonghaulWorker,
  type WorkerLog,
  type WorkerLogEntry,
  type WorkerOptions,
  type WorkerRole,
} from './worker/create.js';
