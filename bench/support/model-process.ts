import { LEFT_OUT } from '../../src/context/window.js';
import {
  call,
  finish,
  pace,
  type Responder,
  say,
  startFakeModel,
  type TurnRequest,
} from '../../src/fake-model/index.js';
import { type Plan, planOf } from './plan.js';

/** Runs the model that plays plans, until SIGTERM. Prints its address. */
export async function main(): Promise<number> {
  // of the bodies only the latest is of use
  const model = await startFakeModel({ responder: player(), keepBytes: 1 });
  process.stdout.write(`${JSON.stringify({ url: model.url })}\n`);
  await new Promise((done) => process.once('SIGTERM', done));
  await model.close();
  return 0;
}

function player(): Responder {
  const count = counter();
  return (request) => {
    const plan = planOf(request.prompt);
    if (plan === undefined) return undefined;
    const turn = count(request, plan);
    if (turn >= plan.turns) return [call('attempt_completion', { result: `Made ${turn} calls.` }), finish()];
    const [name, input] = plan.call;
    const filled = JSON.parse(JSON.stringify(input).replaceAll('{{n}}', String(turn + 1)));
    const words = plan.say === undefined ? [] : [pace(plan.say.paceMs), say(plan.say.text), pace(0)];
    return [...words, call(name, filled), finish()];
  };
}

/**
 * The number of answers a conversation has had. Its messages tell, until turns are left out; from then on each call that
 * has not been seen before is one more.
 */
function counter(): (request: TurnRequest, plan: Plan) => number {
  const known = new Map<string, { turn: number; lastCall: string }>();
  return (request, { tag }) => {
    const lastCall = lastCallOf(request);
    const before = known.get(tag);
    const counted = before?.lastCall === lastCall ? before.turn : (before?.turn ?? 0) + 1;
    const turn = request.prompt.includes(LEFT_OUT) ? counted : request.turn;
    known.set(tag, { turn, lastCall });
    return turn;
  };
}

function lastCallOf({ body }: TurnRequest): string {
  const answer = body.messages.findLast(({ role }) => role === 'assistant');
  const block = answer?.content.findLast(({ type }) => type === 'tool_use');
  return block !== undefined && 'id' in block ? String(block.id) : '';
}
