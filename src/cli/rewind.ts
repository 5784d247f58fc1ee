import type { ConversationMessage } from '../client.js';
import { badFlag } from './flags.js';
import { columns, type Io, printJson, printLine } from './io.js';
import { neutralLine } from './neutral.js';
import { count, table } from './text.js';
import { withTask } from './with-client.js';

/** `rewind ID` lists the messages; with one it takes the conversation back to it. @returns the exit code */
export function rewindCommand(
  io: Io,
  home: string,
  prefix: string,
  message: string | undefined,
  text: string | undefined,
  json?: boolean,
): Promise<number> {
  if (message !== undefined && !/^[0-9a-f]{1,64}$/.test(message)) {
    throw badFlag(
      `"${message}" is neither the number nor the id of a message.`,
      '`longhaul rewind ID` lists the messages with their numbers.',
    );
  }
  return withTask(io, home, prefix, async (client, task) => {
    if (message === undefined) {
      const messages = await client.messages(task);
      if (json) printJson(io, { type: 'messages', task, messages });
      else if (messages.length === 0) printLine(io, 'There is no message yet that the model has answered.');
      else for (const line of table(messages.map(cells), columns(io))) printLine(io, line);
      return 0;
    }
    const { kept, dropped } = await client.rewind(task, message, text);
    if (json) printJson(io, { type: 'rewind', task, kept, dropped });
    else
      printLine(io, `Taken back to message ${kept}; taken away: ${count(dropped, 'message')}. Files stay as they are.`);
    return 0;
  });
}

function cells({ number, role, excerpt, calls }: ConversationMessage): string[] {
  const made = calls === 0 ? '' : `[${count(calls, 'call')}]`;
  return [String(number), role, [made, neutralLine(excerpt)].filter((part) => part !== '').join(' ')];
}
