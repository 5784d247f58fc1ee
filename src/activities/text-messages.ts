import type { Conversation, Message, MessageBlock } from '../domain/blocks.js';
import { type TextGrammar, writeCall } from '../model/text-protocol/grammar.js';
import { resultHeading } from '../prompts/text-protocol.js';

type Call = Pick<Extract<MessageBlock, { type: 'tool_use' }>, 'id' | 'name' | 'input'>;

/** Messages never change, and a conversation is sent again and again. */
const known = new WeakMap<Message, Message>();

/**
 * The conversation without the API's own calls and results, which a request without tools must not hold: each is the
 * text that it would be had it been written in the text protocol.
 */
export function inText({ messages, skipped }: Conversation, grammar: TextGrammar): Conversation {
  return {
    messages: messages.map((message, at) => {
      if (!message.content.some(({ type }) => type === 'tool_use' || type === 'tool_result')) return message;
      const text = known.get(message) ?? textOf(message, messages[at - 1], grammar);
      known.set(message, text);
      return text;
    }),
    skipped,
  };
}

function textOf({ role, content }: Message, before: Message | undefined, grammar: TextGrammar): Message {
  if (role === 'user') return { role, content: resultsInText(content, callsOf(before)) };
  return {
    role,
    content: content.map((block) =>
      block.type === 'tool_use' ? { type: 'text', text: writeCall(grammar, block.name, block.input) } : block,
    ),
  };
}

function callsOf(message: Message | undefined): Call[] {
  return (message?.content ?? []).filter((block) => block.type === 'tool_use');
}

/** Results of calls as headed texts, what is no text in them behind its text; all else as it is. */
export function resultsInText(content: readonly MessageBlock[], calls: readonly Call[]): MessageBlock[] {
  return content.flatMap((block): MessageBlock[] => {
    if (block.type !== 'tool_result') return [block];
    const call = calls.find(({ id }) => id === block.tool_use_id);
    const heading = resultHeading(call?.name ?? 'tool', call?.input ?? {});
    const texts = block.content.flatMap((one) => (one.type === 'text' ? [one.text] : []));
    const others = block.content.filter(({ type }) => type !== 'text');
    return [{ type: 'text', text: `${heading}\n${texts.join('\n\n')}` }, ...others];
  });
}
