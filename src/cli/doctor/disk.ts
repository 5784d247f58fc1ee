import { statfs } from 'node:fs/promises';
import { existingParent } from './home.js';
import { bad, type Check, type Finding, ok, together, warn } from './row.js';
import { size } from './words.js';

/** Free bytes below which is warned, and below which tasks are about to fail; the same for file entries. */
export interface DiskLimits {
  warnBytes: number;
  badBytes: number;
  warnFiles: number;
  badFiles: number;
}

const LIMITS: DiskLimits = {
  warnBytes: 1024 ** 3,
  badBytes: 100 * 1024 ** 2,
  warnFiles: 10_000,
  badFiles: 1_000,
};

export const diskCheck: Check = {
  name: 'disk',
  look: async ({ home }) => diskFinding(home),
};

/** What is left for an ordinary user on the file system of `home`. */
export async function diskFinding(home: string, limits: DiskLimits = LIMITS): Promise<Finding> {
  const folder = await existingParent(home);
  const { bavail, bsize, files, ffree } = await statfs(folder);
  const bytes = bavail * bsize;
  const next = `Make room on the disk of ${folder}, or set LONGHAUL_HOME to another one.`;
  const faults: Finding[] = [];
  if (bytes < limits.warnBytes) {
    const found = `only ${size(bytes)} free at ${folder}`;
    faults.push(bytes < limits.badBytes ? bad(found, next) : warn(found, next));
  }
  // some file systems have as many entries as fit, and count none
  if (files > 0 && ffree < limits.warnFiles) {
    const found = `only ${ffree} more files can be made at ${folder}`;
    faults.push(ffree < limits.badFiles ? bad(found, next) : warn(found, next));
  }
  return together(faults, ok(`${size(bytes)} free`));
}
