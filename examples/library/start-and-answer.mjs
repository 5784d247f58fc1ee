// Starts a task, shows what it says, answers what it asks, and prints how it ended.
//
//   node start-and-answer.mjs FOLDER "PROMPT"
import { TaskClient } from 'longhaul';

const [workspace = '.', prompt = 'Say in a few sentences what this project does.'] = process.argv.slice(2);

const client = await TaskClient.connect();
try {
  const { task } = await client.start({ prompt, workspace, limits: { maxTurns: 50 } });
  console.log(`task ${task}`);
  for await (const { event } of client.follow(task)) {
    if (event.type === 'say' && event.say === 'text') console.log(event.text);
    if (event.type === 'ask') await client.answer(task, decide(event.ask));
  }
  const end = await client.result(task);
  console.log(`${end.outcome} after ${end.totals.turns} turns`);
  if (end.outcome === 'completed') console.log(end.result);
  else process.exitCode = 1;
} finally {
  await client.close();
}

/** Takes the first option of a question, allows no command and no edit, and ends the task when a request has failed. */
function decide({ id, kind, question, options }) {
  console.log(`${kind}: ${question}`);
  if (kind === 'followup') return { ask: id, answer: 'message', text: options?.[0] ?? 'Decide for yourself.' };
  if (kind === 'api_req_failed') return { ask: id, answer: 'no' };
  return { ask: id, answer: 'no', text: 'Nobody is there to allow it; do without.' };
}
