import type { PackageIdentity } from './package.js';

/** How the package of a service relates to this one. `rebuilt`: the same version, other code. */
export type ServiceAge = 'same' | 'older' | 'newer' | 'rebuilt';

export function serviceAge(
  service: Pick<PackageIdentity, 'version' | 'build'>,
  own: Pick<PackageIdentity, 'version' | 'build'>,
): ServiceAge {
  const order = compareVersions(service.version, own.version);
  if (order !== 0) return order < 0 ? 'older' : 'newer';
  return service.build === own.build ? 'same' : 'rebuilt';
}

/** Negative when `a` comes before `b` by the rules of semver.org (10, 11); build metadata counts for nothing. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [parts(a), parts(b)];
  const order = compareLists(first.numbers, second.numbers);
  if (order !== 0) return order;
  // a version with a suffix comes before the one without
  if (first.suffix.length === 0 || second.suffix.length === 0) return second.suffix.length - first.suffix.length;
  return compareLists(first.suffix, second.suffix);
}

type Part = number | string;

function parts(version: string): { numbers: Part[]; suffix: Part[] } {
  const [, numbers = '', suffix = ''] = /^v?([\d.]*)(?:-([^+]*))?/.exec(version) ?? [];
  const split = (text: string): Part[] =>
    text.split('.').flatMap((part) => (part === '' ? [] : [/^\d+$/.test(part) ? Number(part) : part]));
  return { numbers: split(numbers), suffix: split(suffix) };
}

function compareLists(a: readonly Part[], b: readonly Part[]): number {
  for (let n = 0; n < Math.max(a.length, b.length); n++) {
    const order = compareParts(a[n], b[n]);
    if (order !== 0) return order;
  }
  return 0;
}

/** Fewer parts come first, numbers before words. */
function compareParts(a: Part | undefined, b: Part | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
  if (typeof a !== typeof b) return typeof a === 'number' ? -1 : 1;
  return a < b ? -1 : 1;
}
