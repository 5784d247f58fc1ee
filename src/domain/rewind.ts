import type { Head, TurnKey } from './ids.js';

/** Blocks of an earlier user message that the next one begins with; that message itself is no longer in the conversation. */
export interface CarryOver {
  /** Id of the message. */
  message: string;
  /** `results`: only what answers the calls before it. */
  blocks: 'all' | 'results';
}

/** A conversation as people see it: with what joins it only with the next request. At most one of the two is there. */
export interface ConversationEnd {
  head: Head;
  carryOver?: CarryOver;
  /** The newest answer. */
  turn?: TurnKey;
}

/** Where a conversation is taken back to. */
export interface RewindPlace extends ConversationEnd {
  /** Messages that are left, and that are taken back. */
  kept: number;
  dropped: number;
}

/** A message of a conversation as lists show it. */
export interface ListedMessage {
  id: string;
  parent: Head;
  role: 'user' | 'assistant';
  /** Its beginning, on one line. */
  excerpt: string;
  calls: number;
}
