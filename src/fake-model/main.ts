import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { LonghaulError, messageOf } from '../domain/errors.js';
import { type FakeModelOptions, startFakeModel } from './fake-model.js';
import type { RecordedRequest } from './records.js';
import { manyCalls } from './responders.js';
import { readScript } from './script.js';
import { parseStep } from './script-line.js';
import { isContent } from './steps.js';

const USAGE = `Usage: main.js --script FILE | --calls N [--call "NAME JSON"]
  --script FILE   what to answer, as described in docs/fake-model.md
  --calls N       make N tool calls, one an answer, then complete
  --call CALL     the call to make; {{n}} in it is the number of the turn (default: list_files {"path":"."})
  --port N        default: a free port
  --key K         the only key that is taken
  --pace MS       time between deltas
  --log FILE      append one JSON line for each request that has ended, without its body
`;

const MAX_PORT = 65_535;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      script: { type: 'string' },
      calls: { type: 'string' },
      call: { type: 'string', default: 'list_files {"path":"."}' },
      port: { type: 'string', default: '0' },
      key: { type: 'string' },
      pace: { type: 'string', default: '0' },
      log: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const options: FakeModelOptions = {
    port: readNumber('--port', values.port, MAX_PORT),
    paceMs: readNumber('--pace', values.pace, 60_000),
    ...(values.key !== undefined && { apiKey: values.key }),
    ...(values.log !== undefined && { onEnd: logTo(values.log) }),
  };
  if (values.script !== undefined) options.script = await readScript(values.script);
  else if (values.calls !== undefined) options.responder = callsOf(values.calls, values.call);
  else throw new LonghaulError('bad-flag', 'Neither --script nor --calls was given.', { next: USAGE });
  const model = await startFakeModel(options);
  const stop = () => void model.close().then(() => process.exit(0));
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  process.stdout.write(`${JSON.stringify({ url: model.url })}\n`);
}

function callsOf(count: string, line: string) {
  const word = /^\S+\s+\{/.test(line) || !/\s/.test(line) ? 'call' : 'callraw';
  let step: ReturnType<typeof parseStep>;
  try {
    step = parseStep(word, line);
  } catch (err) {
    throw new LonghaulError('bad-script', `--call: ${(err as Error).message}.`, {
      next: 'Give NAME and a JSON object.',
    });
  }
  if (!isContent(step)) throw new LonghaulError('bad-script', '--call is not a call.', { next: 'Give NAME and JSON.' });
  const call = step;
  return manyCalls(readNumber('--calls', count, 1_000_000), () => call);
}

function readNumber(flag: string, text: string, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= max) return value;
  throw new LonghaulError('bad-flag', `${flag} needs a whole number up to ${max}, not "${text}".`, { next: USAGE });
}

function logTo(file: string): (record: RecordedRequest) => void {
  return (record) => appendFileSync(file, `${JSON.stringify({ ...record, body: undefined })}\n`);
}

main().catch((err: unknown) => {
  const next = LonghaulError.is(err) && err.next ? `\n${err.next}` : '';
  process.stderr.write(`${messageOf(err)}${next}\n`);
  process.exitCode = 2;
});
