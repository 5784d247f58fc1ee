// Asks the provider at the address given once, as a worker does, and prints how that failed ("answered" when it did not).
import { Watchdog } from '../../dist/model/event-stream.js';
import { failureOf } from '../../dist/model/failure.js';
import { modelInfo } from '../../dist/model/prices.js';
import { requestEvents } from '../../dist/model/provider.js';
import { prepareRequest } from '../../dist/model/request.js';

const [baseURL] = process.argv.slice(2);
const request = prepareRequest(modelInfo('claude-sonnet-5'), 'sys', [], {
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  skipped: 0,
});
const watchdog = new Watchdog({ idleMs: 5_000, totalMs: 20_000 }, new AbortController().signal);
try {
  for await (const _ of requestEvents({ baseURL, apiKey: 'k' }, request, watchdog));
  console.log(JSON.stringify({ class: 'answered' }));
} catch (err) {
  console.log(JSON.stringify(failureOf(err)));
}
