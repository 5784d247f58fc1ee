import { bad, type Check, type Finding, ok, warn } from './row.js';

const OLDEST = [20, 3] as const;

/**
 * Last day of each line, from the release schedule of the Node.js project (github.com/nodejs/Release). Odd lines up to
 * 25 end half a year after the next one; lines that are not listed had no announced end.
 */
const END_OF_LIFE: Readonly<Record<number, string>> = {
  20: '2026-04-30',
  21: '2024-06-01',
  22: '2027-04-30',
  23: '2025-06-01',
  24: '2028-04-30',
  25: '2026-06-01',
};

export const nodeCheck: Check = {
  name: 'Node',
  look: async () => nodeFinding(process.versions.node, new Date()),
};

/** @param version such as `22.20.0` */
export function nodeFinding(version: string, today: Date): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldMajor, oldMinor] = OLDEST;
  if (major < oldMajor || (major === oldMajor && minor < oldMinor))
    return bad(
      `${version}, and at least ${oldMajor}.${oldMinor} is needed`,
      'Install Node 24 from https://nodejs.org.',
    );
  const end = END_OF_LIFE[major];
  if (end !== undefined && today > new Date(`${end}T23:59:59Z`))
    return warn(
      `${version}; this line gets no security fixes since ${end}`,
      'Longhaul works with it; Node 24 is a current one.',
    );
  return ok(version);
}
