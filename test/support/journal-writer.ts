import { setTimeout as sleep } from 'node:timers/promises';
import { callKey } from '../../src/domain/ids.js';
import { type Journal, WorkspaceInUse } from '../../src/journal/journal.js';
import { openJournal } from '../../src/journal/open.js';

// Writes to a journal until it is killed (`random`), appends a number of events (`append`), creates a task (`create`), or
// makes requests until the given USD of its tree are spent (`spend`).
const [home = '', mode = '', task = '', argument = '0'] = process.argv.slice(2);
const journal = await openJournal({ home });
process.stdout.write('ready\n');
if (mode === 'append') await appendMany(Number(argument));
else if (mode === 'create') await createTask();
else if (mode === 'spend') await spendAll(Number(argument));
else await writeAnything(Number(argument));
await journal.close();

async function appendMany(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const text = `${process.pid} ${i}`;
    await journal.append(task, [{ event: { type: 'say', say: 'info', text } }]);
  }
}

/** In the one folder; exit code 9 when it is taken. */
async function createTask(): Promise<void> {
  try {
    await journal.createTask({ task, workspace: '/projects/one', model: 'm', title: 't', input: '{}' });
  } catch (err) {
    if (!(err instanceof WorkspaceInUse)) throw err;
    process.exitCode = 9;
  }
}

/** Each request uses all that it may. A turn that an earlier process has left is gone on with. */
async function spendAll(cost: number): Promise<void> {
  const request = { model: 'm', inputTokens: 500, inputCost: 0.01, outputPrice: 0.000_02, maxTokens: 1_500 };
  for (let n = 0; ; n++) {
    const turn = `${task}:${n}`;
    const claim = await journal.claimTurn({ task, turn }, null, request, { caps: { cost } });
    if (claim.claim === 'spent') return;
    if (claim.claim === 'closed') continue;
    const { attempt, maxTokens } = claim;
    await sleep(2);
    const usage = { inputTokens: 500, outputTokens: maxTokens, cacheWriteTokens: 0, cacheReadTokens: 0 };
    const row = { turn, attempt, model: 'm', usage, cost: 0.01 + maxTokens * 0.000_02, estimated: false };
    await journal.closeTurn(turn, attempt, { stop: 'end_turn', usage: row });
  }
}

/** Each acknowledged `seq` is told, so that the test can look whether it is still there. */
async function writeAnything(seed: number): Promise<void> {
  const random = generator(seed);
  for (let turn = 0; ; turn++) {
    const size = Math.floor(random() * 150_000);
    const { blob } = await journal.putBlob(`${seed}.${turn}:${'x'.repeat(size)}`);
    const seq = await journal.append(task, [{ event: { type: 'say', say: 'info', text: `blob ${blob}` } }]);
    process.stdout.write(`${seq}\n`);
    await growConversation(journal, `${seed}.${turn}`);
    await playTurn(journal, `turn-${seed}-${turn}`, random);
  }
}

async function growConversation(to: Journal, text: string): Promise<void> {
  const row = await to.getTask(task);
  const head = row?.carried ? (JSON.parse(row.carried) as string) : null;
  const next = await to.appendMessages(task, head, [{ role: 'user', content: [{ type: 'text', text }] }]);
  await to.saveCarried(task, JSON.stringify(next));
}

async function playTurn(to: Journal, turn: string, random: () => number): Promise<void> {
  const request = { model: 'm', inputTokens: 10, inputCost: 1, outputPrice: 0, maxTokens: 0 };
  const claim = await to.claimTurn({ task, turn }, null, request);
  if (claim.claim !== 'granted') return;
  const { attempt } = claim;
  for (let block = 0; block < 3; block++) {
    const text = `${turn} ${block}`;
    const piece = { task, turn, stream: callKey(turn, block), attempt, kind: 'text' as const, offset: 0, text };
    await to.addPartial(piece);
    const say = { type: 'say' as const, say: 'text' as const, turn, attempt, block, text };
    await to.putBlock(turn, attempt, { index: block, content: { type: 'text', text }, say });
  }
  const usage = { inputTokens: 1, outputTokens: 1, cacheWriteTokens: 0, cacheReadTokens: 0 };
  const row = { turn, attempt, model: 'm', usage, cost: 0.5, estimated: false };
  if (random() < 0.3) await to.retractTurn(turn, attempt, 'cut', row);
  else {
    if (random() < 0.5) await to.commitTurn(turn, attempt);
    await to.closeTurn(turn, attempt, { stop: 'end_turn', usage: row });
  }
}

/** Numbers in [0, 1) that depend on the seed alone. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
