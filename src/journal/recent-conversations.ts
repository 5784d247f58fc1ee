import type { Message } from '../domain/blocks.js';
import type { Head } from '../domain/ids.js';

/** Characters of conversations that are kept in memory, all together. */
const MAX_CHARS = 64 * 1024 * 1024;

export interface KnownConversation {
  head: Head;
  messages: readonly Message[];
  /** of the messages as JSON */
  chars: number;
}

const EMPTY: KnownConversation = { head: null, messages: [], chars: 0 };

/**
 * Conversations as they were read last. A chain never changes, so a task's next request reads only what was added since;
 * of each task only the longest is kept.
 */
export class RecentConversations {
  /** Least recently used first. */
  private readonly known = new Map<string, KnownConversation>();
  private chars = 0;

  find(head: Head): KnownConversation | undefined {
    return head === null ? EMPTY : this.known.get(head);
  }

  /** Remembers `before` with what comes after it, in its place. @returns all messages of it */
  extend(before: KnownConversation, head: Head, added: readonly Message[], chars: number): Message[] {
    const messages = [...before.messages, ...added];
    if (head === null) return messages;
    this.forget(before.head);
    this.known.set(head, { head, messages, chars: before.chars + chars });
    this.chars += before.chars + chars;
    while (this.chars > MAX_CHARS) {
      const [oldest] = this.known.keys();
      if (oldest === undefined) break;
      this.forget(oldest);
    }
    return [...messages];
  }

  private forget(head: Head): void {
    const known = head === null ? undefined : this.known.get(head);
    if (!known) return;
    this.chars -= known.chars;
    this.known.delete(known.head!);
  }
}
