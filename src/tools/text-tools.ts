import { grammarOf, type TextGrammar } from '../model/text-protocol/grammar.js';
import { offeredTools, tools } from './registry.js';

let grammar: TextGrammar | undefined;

/** The tags of all tools, also of those that a request does not offer: a call of one is answered, not shown as text. */
export function textGrammar(): TextGrammar {
  const offered = offeredTools({ yolo: false });
  grammar ??= grammarOf(
    offered.map((one) => ({ ...one, aliases: tools.find(({ name }) => name === one.name)?.aliases })),
  );
  return grammar;
}
