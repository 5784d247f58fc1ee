/**
 * Every error that people meet has a slug with a page in docs/errors/<slug>.md. Closed, so that a test can hold
 * pages and slugs together.
 */
export const ERROR_SLUGS = [
  'ask-refused',
  'bad-answer',
  'bad-attachment',
  'bad-flag',
  'bad-script',
  'bad-settings',
  'command-unknown-outcome',
  'context-window',
  'inside-task',
  'internal',
  'journal-conflict',
  'journal-corrupt',
  'journal-locked',
  'journal-lost',
  'journal-newer',
  'journal-unwritable',
  'message-not-found',
  'no-api-key',
  'node-version',
  'patch-interrupted',
  'port-taken',
  'profile-in-use',
  'profile-unknown',
  'prompt-empty',
  'prompt-too-large',
  'provider-failed',
  'service-busy',
  'service-failed',
  'service-version',
  'task-ambiguous',
  'task-busy',
  'task-closed',
  'task-closing',
  'task-not-found',
  'task-state',
  'temporal-binary',
  'temporal-unreachable',
  'workspace-in-use',
  'workspace-missing',
  'workspace-not-a-directory',
  'workspace-unreadable',
] as const;
export type ErrorSlug = (typeof ERROR_SLUGS)[number];

/**
 * An error for people. `message` says what happened, `kept` what was not lost, `next` what to do.
 * The page is named by {@link errorPage}, not in the message.
 */
export class LonghaulError extends Error {
  override readonly name = 'LonghaulError';
  readonly kept: string | undefined;
  readonly next: string | undefined;

  constructor(
    readonly slug: ErrorSlug,
    message: string,
    more: { kept?: string; next?: string; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.kept = more.kept;
    this.next = more.next;
  }

  /** Works across realms and module copies, where `instanceof` does not. */
  static is(err: unknown): err is LonghaulError {
    return err instanceof Error && err.name === 'LonghaulError' && 'slug' in err;
  }
}

/** Where the page about an error is, relative to the package. */
export function errorPage(slug: ErrorSlug): string {
  return `docs/errors/${slug}.md`;
}

/** What was thrown, as a text. */
export function messageOf(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}
