import { TaskClient } from '../client.js';
import { LonghaulError } from '../domain/errors.js';
import { type AttachFlags, attachedBy } from './attach-flags.js';
import { type Io, printJson, printLine } from './io.js';
import { Starting } from './starting.js';

export interface SendFlags extends AttachFlags {
  json?: boolean;
}

/** `send ID "TEXT"`. @returns the exit code */
export async function sendCommand(
  io: Io,
  home: string,
  prefix: string,
  text: string,
  flags: SendFlags,
): Promise<number> {
  if (text.trim() === '') {
    throw new LonghaulError('prompt-empty', 'The message is empty.', {
      kept: 'Nothing was sent.',
      next: 'Say what the model is to know: `longhaul send ID "TEXT"`.',
    });
  }
  const starting = new Starting(io);
  const client = await TaskClient.local({ home, env: io.env, from: 'cli', ...starting.reports });
  try {
    const task = await client.resolve(prefix);
    const { state } = await starting.until(client.send(task, text, attachedBy(io, flags)));
    if (flags.json) printJson(io, { type: 'send', task, state });
    else if (state === 'queued') printLine(io, `Sent; the model gets it with its next request.`);
    else
      printLine(io, `The task had ended; it goes on with your message. Follow it with: ${io.command} attach ${task}`);
    return 0;
  } finally {
    await client.close();
  }
}
