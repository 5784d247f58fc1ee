/** A text cut into lines, so that it can be searched with `\n` as the only line break and changed where it stands. */
export interface LineIndex {
  original: string;
  /** Lines without their breaks. */
  texts: string[];
  /** The break of each line; empty only for a last line without one. */
  breaks: string[];
  /** Every line followed by `\n`. */
  normal: string;
  /** Where each line begins in `original` and in `normal`. */
  starts: number[];
  normalStarts: number[];
  /** The break that most lines have; `\n` when there is none. */
  mainBreak: string;
}

/** A lone carriage return breaks lines only in a text that has no line feed at all. */
export function indexLines(original: string): LineIndex {
  const feed = original.includes('\n') ? '\n' : '\r';
  const index: LineIndex = {
    original,
    texts: [],
    breaks: [],
    normal: '',
    starts: [],
    normalStarts: [],
    mainBreak: '\n',
  };
  let start = 0;
  let normalStart = 0;
  const add = (end: number, found: string) => {
    index.starts.push(start);
    index.normalStarts.push(normalStart);
    index.texts.push(original.slice(start, end));
    index.breaks.push(found);
    normalStart += end - start + 1;
    start = end + found.length;
  };
  for (let at = original.indexOf(feed); at >= 0; at = original.indexOf(feed, start)) {
    if (feed === '\n' && at > start && original[at - 1] === '\r') add(at - 1, '\r\n');
    else add(at, feed);
  }
  if (start < original.length) add(original.length, '');
  if (index.texts.length > 0) index.normal = `${index.texts.join('\n')}\n`;
  index.mainBreak = mainBreakOf(index.breaks);
  return index;
}

function mainBreakOf(breaks: string[]): string {
  const counts = new Map<string, number>();
  for (const found of breaks) if (found !== '') counts.set(found, (counts.get(found) ?? 0) + 1);
  let main = '\n';
  for (const [found, count] of counts) if (count > (counts.get(main) ?? 0)) main = found;
  return main;
}

/** Number (from 0) of the line that holds an offset of `normal`; the number of lines for its end. */
export function lineAt(index: LineIndex, offset: number): number {
  if (offset >= index.normal.length) return index.texts.length;
  let low = 0;
  let high = index.normalStarts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((index.normalStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The offset of `original` that an offset of `normal` stands for. */
export function originalOffset(index: LineIndex, offset: number): number {
  const line = lineAt(index, offset);
  if (line === index.texts.length) return index.original.length;
  return (index.starts[line] ?? 0) + offset - (index.normalStarts[line] ?? 0);
}
