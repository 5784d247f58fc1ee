import type { Conversation } from '../domain/blocks.js';
import type { BudgetUse } from '../domain/budget.js';
import type { AnswerCall } from '../domain/calls.js';
import { LonghaulError } from '../domain/errors.js';
import type { ProviderFailure } from '../domain/failures.js';
import type { StreamInput, StreamResult } from '../domain/turn.js';
import { Superseded } from '../journal/journal.js';
import type { TurnRow } from '../journal/rows.js';
import type { RawEvent } from '../model/answer-reader.js';
import { DEFAULT_LIMITS, RequestFailed, type StreamLimits, Watchdog } from '../model/event-stream.js';
import { eventFailure, failureOf } from '../model/failure.js';
import { withImages } from '../model/images.js';
import { costAhead, modelInfo } from '../model/prices.js';
import { loadProfile, type Profile } from '../model/profiles.js';
import { requestEvents } from '../model/provider.js';
import type { ModelRequest } from '../model/request.js';
import { INTERRUPTED, INTERRUPTED_BY_ERROR } from '../prompts/notices.js';
import { systemPrompt } from '../prompts/system.js';
import { offeredTools } from '../tools/registry.js';
import { Attempt } from './attempt.js';
import { firstPage } from './call-pages.js';
import { type ActivityDeps, currentRun, dispatchOrder } from './context.js';
import { EarlyCalls } from './early-calls.js';
import { formRequest } from './form-request.js';
import { gather } from './gather.js';
import type { Stop } from './stop.js';

type Answered = Extract<StreamResult, { status: 'answered' }>;

/**
 * One claim of a turn's model request: gather what it needs, prepare it, claim the attempt, stream. Provider errors are
 * results; an exception means that this execution is over but the turn is not.
 */
export async function streamModel(input: StreamInput, deps: ActivityDeps, stop: Stop): Promise<StreamResult> {
  const { journal } = deps;
  const { task, turn, number } = input;
  const model = modelInfo(input.settings.model);
  const { head, conversation, opening, events } = await gather(input, journal);
  const { policy, focusChain } = input.settings;
  const { workspace } = input;
  const facts = { workspace, platform: process.platform, yolo: policy.yolo, todo: focusChain.enabled };
  const requestOf = (from: Conversation) =>
    formRequest(input.settings, model, systemPrompt(facts), offeredTools(policy), from);
  let request = requestOf(conversation);
  const profile = await profileOf(deps, input.settings.profile);
  await journal.setProfile(input.task, input.settings.profile);
  const used = () => journal.treeUse(task);
  if ('class' in profile) return { status: 'failed', attempt: 0, failure: profile, used: await used() };

  const inputTokens = request.inputEstimate;
  const wanted = request.body.max_tokens;
  const claim = await journal.claimTurn(
    { task, turn, run: currentRun(), ...(input.root === undefined ? {} : { root: input.root }) },
    head,
    { model: model.api, inputTokens, ...costAhead(model, inputTokens), maxTokens: wanted },
    {
      dispatch: dispatchOrder(),
      ...(input.caps && { caps: input.caps }),
      ...(opening && { opening }),
      events: (attempt) => [
        ...events,
        { event: { type: 'say', say: 'api_req_started', turn, attempt, number, model: model.api } },
      ],
    },
  );
  if (claim.claim === 'spent') return { status: 'spent', spent: claim.spent, used: await used() };
  const early = new EarlyCalls(input, deps, stop);
  if (claim.claim === 'closed') {
    await early.recall(claim.turn);
    return answered(claim.turn, await early.finish(claim.turn), await used());
  }
  // another execution may have claimed it in the meantime, with what it had found
  if (claim.head !== head) request = requestOf((await gather(input, journal)).conversation);
  // as much as the budget pays
  const body = { ...(await withImages(request.body, journal)), max_tokens: claim.maxTokens };
  request = { ...request, body };
  const attempt = new Attempt(input, deps, early, claim.attempt, model, request);
  const end = await stream(deps, attempt, profile, request, stop);
  if ('failure' in end) return { status: 'failed', ...end, used: await used() };
  const clamped = claim.maxTokens < wanted;
  const answer = answered(end, await early.finish(end), await used(), attempt.requestId);
  return { ...answer, ...(clamped && { clamped }) };
}

async function stream(
  deps: ActivityDeps,
  attempt: Attempt,
  profile: Profile,
  request: ModelRequest,
  { signal, kind }: Stop,
): Promise<TurnRow | Omit<Extract<StreamResult, { status: 'failed' }>, 'status' | 'used'>> {
  const watchdog = new Watchdog(limitsFrom(deps.env), AbortSignal.any([signal, attempt.lost]));
  const events = requestEvents(profile, request, watchdog, (id) => {
    attempt.requestId = id;
  });
  try {
    await readAnswer(attempt, events);
    return await attempt.close();
  } catch (err) {
    if (attempt.lost.aborted || err instanceof Superseded) throw attempt.lostError(err);
    if (signal.aborted) {
      if (kind() === 'detach') throw err;
      return await attempt.interrupt(INTERRUPTED);
    }
    // The journal's own troubles are no word on the provider: another execution finds the turn as it is.
    if (LonghaulError.is(err)) throw err;
    const found = failureOf(err);
    const failure: ProviderFailure = {
      ...(attempt.requestId === undefined ? {} : { requestId: attempt.requestId }),
      ...found,
      message: deps.secrets.hide(found.message),
      ...(attempt.reader.received > 0 ? { paid: true } : {}),
    };
    if (attempt.committed) return await attempt.interrupt(INTERRUPTED_BY_ERROR);
    await attempt.retract(failure.message);
    return { attempt: attempt.number, failure };
  } finally {
    watchdog.stop();
    attempt.stop();
  }
}

/** @throws RequestFailed when the stream ends before the answer does, carries an error event, or begins anew */
async function readAnswer(attempt: Attempt, events: AsyncIterable<RawEvent>): Promise<void> {
  for await (const event of events) {
    if (event.type === 'message_start' && attempt.reader.received > 0) {
      throw new RequestFailed({ class: 'bad_response', message: 'The stream began anew in the middle of the answer.' });
    }
    for (const output of attempt.reader.read(event)) {
      if (output.kind === 'error') throw new RequestFailed(eventFailure(output.error.type, output.error.message));
      if (output.kind === 'end') return;
      await attempt.take(output);
    }
  }
  throw new RequestFailed({ class: 'cut', message: 'The stream ended before the answer was complete.' });
}

function answered(
  turn: TurnRow,
  answerCalls: readonly AnswerCall[],
  used: BudgetUse,
  requestId: string | undefined = '',
): Answered {
  const { calls } = firstPage(answerCalls);
  return {
    status: 'answered',
    head: turn.head,
    attempt: turn.attempt,
    stop: turn.stop ?? 'interrupted',
    calls,
    callCount: turn.calls.length,
    ...(turn.blocks.length === 0 ? { requestId: requestId.slice(0, 100) } : {}),
    used,
  };
}

async function profileOf(deps: ActivityDeps, name: string): Promise<Profile | ProviderFailure> {
  try {
    const profile = await loadProfile(deps.home, deps.env, name);
    deps.secrets.add(profile);
    return profile;
  } catch (err) {
    if (!LonghaulError.is(err)) throw err;
    return { class: 'auth', message: `${err.message} ${err.next ?? ''}`.trim() };
  }
}

/** `LONGHAUL_IDLE_LIMIT_MS` and `LONGHAUL_STREAM_LIMIT_MS` of the worker's environment. */
function limitsFrom(env: NodeJS.ProcessEnv): StreamLimits {
  const positive = (text: string | undefined, otherwise: number) => {
    const value = Number(text);
    return Number.isFinite(value) && value > 0 ? value : otherwise;
  };
  return {
    idleMs: positive(env.LONGHAUL_IDLE_LIMIT_MS, DEFAULT_LIMITS.idleMs),
    totalMs: positive(env.LONGHAUL_STREAM_LIMIT_MS, DEFAULT_LIMITS.totalMs),
  };
}
