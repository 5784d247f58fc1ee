import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../support/world.js';

const FOLDER = join(ROOT, 'test', 'replay', 'histories');
const names = readdirSync(FOLDER).map((file) => file.replace(/\.json$/, ''));

interface RecordedEvent {
  eventType: string;
  activityTaskScheduledEventAttributes?: { activityType: { name: string } };
}
const recorded = (name: string): { events: RecordedEvent[] } =>
  JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));
const replay = (history: unknown) =>
  Worker.runReplayHistory(
    { workflowBundle: { codePath: join(ROOT, 'dist', 'workflow-bundle.js') } },
    historyFromJSON(history),
    'replayed',
  );

/** Recorded by `npm run record-histories`. A task that is open while the worker is replaced goes on from such a history. */
describe('recorded histories', () => {
  beforeAll(() => {
    Runtime.install({ logger: new DefaultLogger('ERROR') });
  });

  it('there are some of every kind', () => {
    expect(names).toEqual(
      expect.arrayContaining(['ask-open', 'mid-turn', 'handed-over', 'cancelled', 'parked', 'paused', 'rewound']),
    );
  });

  it.each(names)('%s is replayed by this build', async (name) => {
    await replay(recorded(name));
  });

  it('one that this build would not have made is noticed', async () => {
    const history = recorded('completed');
    const scheduled = history.events.findLast((event) => event.activityTaskScheduledEventAttributes !== undefined);
    scheduled!.activityTaskScheduledEventAttributes!.activityType.name = 'somethingElse';
    await expect(replay(history)).rejects.toThrow();
  });

  it('none holds anything of the machine it was recorded on', () => {
    for (const name of names) {
      const text = JSON.stringify(recorded(name));
      const decoded = text.replace(/"data":"([^"]*)"/g, (_, data: string) => Buffer.from(data, 'base64').toString());
      expect(decoded, name).not.toMatch(/\/(tmp|work|home|root|Users)\//);
    }
  });
});
