export type { Chunking } from './deltas.js';
export { type FakeModel, type FakeModelOptions, startFakeModel } from './fake-model.js';
export type { RecordedRequest, Verdict } from './records.js';
export { manyCalls, type Responder, scripted, type TurnRequest } from './responders.js';
export type { Rule, Violation } from './rules.js';
export { type Branch, parseScript, readScript, type Script, script } from './script.js';
export {
  call,
  callraw,
  close,
  cut,
  delay,
  empty,
  error,
  finish,
  html,
  overloaded,
  pace,
  ping,
  raw,
  redacted,
  type Step,
  say,
  server,
  stall,
  status,
  think,
  usage,
} from './steps.js';
