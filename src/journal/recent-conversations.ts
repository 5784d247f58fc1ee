import type { Conversation, Message } from '../domain/blocks.js';
import type { Head } from '../domain/ids.js';

/** Characters of conversations that are kept in memory, all together. */
const MAX_CHARS = 64 * 1024 * 1024;

/** Messages that are read however long they are: the newest turn, an answer with its results. */
export const NEWEST = 2;

/** A message with its `sizeOf`. */
export interface SizedMessage {
  message: Message;
  chars: number;
}

/** A conversation as far as it was read: all of it, or its first message and the newest ones. */
export interface KnownConversation {
  sized: readonly SizedMessage[];
  /** Characters of the messages in between. */
  skipped: number;
}

const EMPTY: KnownConversation = { sized: [], skipped: 0 };

/**
 * Conversations as they were read last. A chain never changes, so a task's next request reads only what was added since;
 * of each task only the longest is kept.
 */
export class RecentConversations {
  /** Least recently used first. */
  private readonly known = new Map<string, KnownConversation & { chars: number }>();
  private chars = 0;

  /** @param limit characters that are of use: what was read with a smaller one does not count */
  find(head: Head, limit: number): KnownConversation | undefined {
    if (head === null) return EMPTY;
    const known = this.known.get(head);
    return known && (known.skipped === 0 || known.chars >= limit) ? known : undefined;
  }

  /**
   * Remembers what is known of the conversation that ends with `head`, in place of a shorter one it begins with.
   * @param before head of that one
   * @param limit characters that are of use
   */
  keep(before: Head, head: Head, whole: KnownConversation, limit: number): Conversation {
    const kept = charsOf(whole) > 2 * limit ? trimmed(whole, limit) : whole;
    this.forget(before);
    if (head !== null) {
      this.forget(head);
      const chars = charsOf(kept);
      this.known.set(head, { ...kept, chars });
      this.chars += chars;
      while (this.chars > MAX_CHARS) this.forget(this.known.keys().next().value ?? null);
    }
    return { messages: kept.sized.map(({ message }) => message), skipped: kept.skipped };
  }

  private forget(head: Head): void {
    const known = head === null ? undefined : this.known.get(head);
    if (head === null || !known) return;
    this.chars -= known.chars;
    this.known.delete(head);
  }
}

function charsOf({ sized }: KnownConversation): number {
  return sized.reduce((sum, { chars }) => sum + chars, 0);
}

/** The first message and the newest ones, at least `limit` characters of them and the newest turn. */
function trimmed({ sized, skipped }: KnownConversation, limit: number): KnownConversation {
  const [first, ...rest] = sized;
  if (!first) return EMPTY;
  let from = rest.length;
  for (let chars = 0; from > 0 && (chars < limit || rest.length - from < NEWEST); from--)
    chars += rest[from - 1]!.chars;
  const out = rest.slice(0, from).reduce((sum, { chars }) => sum + chars, 0);
  return { sized: [first, ...rest.slice(from)], skipped: skipped + out };
}
