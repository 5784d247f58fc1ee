/** Insertions, deletions, replacements and swaps of neighbours that make one word the other. */
export function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) row[j] = Math.min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.length, b.length);
}

/** Longer words are not compared: nobody means them. */
const MAX_WORD = 60;

/** The one that was probably meant; undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_WORD) return undefined;
  const allowed = word.length < 5 ? 1 : 2;
  const near = known.map((one) => ({ one, distance: editDistance(word, one) }));
  return near.filter(({ distance }) => distance <= allowed).sort((a, b) => a.distance - b.distance)[0]?.one;
}

/** ` Did you mean X?`, or nothing when none is near. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = nearest(word, known) ?? nearest(word.toLowerCase(), known);
  return near === undefined ? '' : ` Did you mean ${near}?`;
}
