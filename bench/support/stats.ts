/** Middle value; the mean of the two middle ones when there is an even number. NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle]!;
  return (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The least value that so many percent of all are not above. NaN without values. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Without the stack limit of `Math.max`. */
export function max(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(value, most), Number.NEGATIVE_INFINITY);
}

/** The value at `at` on the line through points whose `at` ascends. */
export function interpolate(points: readonly { at: number; value: number }[], at: number): number {
  const after = points.findIndex((point) => point.at >= at);
  if (after < 0) return points.at(-1)?.value ?? Number.NaN;
  const next = points[after]!;
  const last = points[after - 1] ?? next;
  if (next.at === last.at) return next.value;
  return last.value + ((next.value - last.value) * (at - last.at)) / (next.at - last.at);
}
