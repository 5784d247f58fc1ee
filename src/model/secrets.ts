import type { Profile } from './profiles.js';

/** A secret shorter than this is not searched for: it would match by chance. */
const MIN_SECRET = 6;
const HIDDEN = '[hidden]';

/** The keys that a worker has used, so that no text which leaves it repeats one. */
export class Secrets {
  private readonly known = new Set<string>();

  add({ apiKey, authToken }: Profile): void {
    for (const secret of [apiKey, authToken]) if (secret && secret.length >= MIN_SECRET) this.known.add(secret);
  }

  /** The text with every known key replaced. */
  hide(text: string): string {
    let shown = text;
    for (const secret of this.known) shown = shown.replaceAll(secret, HIDDEN);
    return shown;
  }
}
