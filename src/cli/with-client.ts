import { TaskClient } from '../client.js';
import type { Io } from './io.js';
import { Starting } from './starting.js';

/** Does something with one task, named by its id or a beginning of it. What takes long before it begins is said. */
export async function withTask<T>(
  io: Io,
  home: string,
  prefix: string,
  act: (client: TaskClient, task: string) => Promise<T>,
): Promise<T> {
  const starting = new Starting(io);
  const client = await TaskClient.local({ home, env: io.env, ...starting.reports });
  try {
    const task = await client.resolve(prefix);
    return await starting.until(act(client, task));
  } finally {
    await client.close();
  }
}
