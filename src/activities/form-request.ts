import type { Conversation } from '../domain/blocks.js';
import type { TurnSettings } from '../domain/turn.js';
import type { ModelInfo } from '../model/prices.js';
import { type ModelRequest, type OfferedTool, prepareRequest } from '../model/request.js';
import { textProtocolPrompt } from '../prompts/text-protocol.js';
import { textGrammar } from '../tools/text-tools.js';
import { inText } from './text-messages.js';

/** Whether calls of this turn are tags in the answer's text: by its settings, else by what the model can. */
export function usesTextProtocol({ toolProtocol }: Pick<TurnSettings, 'toolProtocol'>, model: ModelInfo): boolean {
  return (toolProtocol === 'auto' ? model.toolProtocol : toolProtocol) === 'text';
}

/**
 * The request in the form of the turn's protocol. In the text protocol no tools are sent: the system prompt describes
 * them, and calls and results that the conversation holds from other turns become text.
 */
export function formRequest(
  settings: TurnSettings,
  model: ModelInfo,
  system: string,
  tools: readonly OfferedTool[],
  conversation: Conversation,
): ModelRequest {
  if (!usesTextProtocol(settings, model)) return prepareRequest(model, system, tools, conversation);
  const prompt = `${system}\n\n${textProtocolPrompt(tools)}`;
  return prepareRequest(model, prompt, [], inText(conversation, textGrammar()));
}
