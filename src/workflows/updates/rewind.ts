import { CancellationScope, condition, setHandler } from '@temporalio/workflow';
import { INLINE_TEXT_BYTES, readBlobRef, type TextRef } from '../../domain/blocks.js';
import type { RewindReply } from '../../domain/replies.js';
import { conversationEnd } from '../../domain/rewound-state.js';
import { utf8Bytes } from '../../domain/text.js';
import { control } from '../activities.js';
import { rewindUpdate } from '../definitions.js';
import type { Task } from '../state.js';
import { argument, onlyKeys, refused, refuseLate, refuseWhileClosing } from './refuse.js';

interface RewindRequest {
  message: string;
  text: TextRef | undefined;
}

/** The conversation is taken back to an earlier message; what the task is doing is broken off for it. */
export function handleRewinds(task: Task): void {
  setHandler(rewindUpdate, (raw) => takeRewind(task, readRewind(raw)), {
    validator: (raw) => {
      readRewind(raw);
      refuseLate(raw);
      refuseWhileRewinding(task);
    },
    description:
      'Takes the conversation back to a message, by its number or id: {"message":"12","text":"optional words to go on with"}',
  });
}

async function takeRewind(task: Task, { message, text }: RewindRequest): Promise<RewindReply> {
  const end = conversationEnd(task.carried);
  const found = await control.findMessage({ ...task.ref, end, message });
  if ('problem' in found) throw refused('MessageNotFound', found.problem);
  refuseWhileRewinding(task);
  // a message may have joined the conversation meanwhile, under the same number
  if (found.turn !== undefined && conversationEnd(task.carried).turn !== found.turn)
    return takeRewind(task, { message, text });
  task.rewind = { to: found, ...(text === undefined ? {} : { text }) };
  task.interrupt?.();
  // an abort does not end the wait: it may be too late to leave the conversation as it was
  await CancellationScope.nonCancellable(() => condition(() => task.rewind === undefined || task.closing));
  if (task.rewind !== undefined) throw refused('TaskClosing', 'The task ended before its conversation was taken back.');
  return { kept: found.kept, dropped: found.dropped };
}

function refuseWhileRewinding(task: Task): void {
  refuseWhileClosing(task);
  if (task.rewind !== undefined) throw refused('WrongState', 'The conversation is being taken back already.');
}

function readRewind(raw: unknown): RewindRequest {
  const example = '{"message":"12"}';
  const bare = typeof raw === 'number' || (typeof raw === 'string' && !raw.trim().startsWith('{'));
  const given = bare ? { message: raw } : argument(raw, example);
  onlyKeys(given, ['message', 'text', 'textRef', 'notAfter']);
  const { message, text, textRef } = given as Record<string, unknown>;
  const id = typeof message === 'number' ? String(message) : message;
  if (typeof id !== 'string' || !/^[0-9a-f]{1,64}$/.test(id.trim())) {
    throw refused('BadArgument', '"message" is the number or the id of a message; `longhaul rewind` lists them.');
  }
  const ref = readBlobRef(textRef);
  if (ref) return { message: id.trim(), text: ref };
  if (text === undefined) return { message: id.trim(), text: undefined };
  if (typeof text !== 'string' || text.trim() === '' || utf8Bytes(text) > INLINE_TEXT_BYTES) {
    throw refused('BadArgument', `"text" is a text, not blank, of at most ${INLINE_TEXT_BYTES} bytes.`);
  }
  return { message: id.trim(), text: { text } };
}
