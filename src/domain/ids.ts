/**
 * Names of things that both sides use. A task id is chosen by the client; a turn key is a `uuid4()` drawn by the
 * workflow, so that it is stable in replay and new after a reset.
 */
export type TaskId = string;
export type TurnKey = string;

/** Names one block of one answer: turn key and block number. Never the provider's own id, which may repeat. */
export type CallKey = string;

/** The conversation message a chain ends with: `hash(parent id, content)`; null is the empty conversation. */
export type Head = string | null;

/** @param block position of the block in the answer, from 0 */
export function callKey(turn: TurnKey, block: number): CallKey {
  return `${turn}:${block}`;
}

export function splitCallKey(call: CallKey): { turn: TurnKey; block: number } {
  const at = call.lastIndexOf(':');
  return { turn: call.slice(0, at), block: Number(call.slice(at + 1)) };
}

/** The id under which a call is sent to the provider: unique in a conversation, within `^[a-zA-Z0-9_-]{1,64}$`. */
export function toolUseId(call: CallKey): string {
  const { turn, block } = splitCallKey(call);
  return `toolu_${turn.replaceAll('-', '')}_${block}`;
}
