import { count } from '../text.js';
import type { BlobFault } from './journal-look.js';
import { bad, type Check, type Finding, ok } from './row.js';

export const blobsCheck: Check = {
  name: 'large texts',
  look: async ({ journal, paths }) => {
    const look = await journal();
    return look.state === 'readable' ? blobsFinding(look.facts.blobs, paths.blobs) : undefined;
  },
};

/** @param folder of the files for texts that are too large for a row */
export function blobsFinding({ looked, faults }: { looked: number; faults: BlobFault[] }, folder: string): Finding {
  if (faults.length === 0) return ok(looked === 0 ? 'none' : `the newest ${looked} are there`);
  const missing = faults.filter(({ what }) => what === 'missing').length;
  const parts = [
    ...(missing > 0 ? [`${missing} missing`] : []),
    ...(missing < faults.length ? [`${faults.length - missing} damaged`] : []),
  ];
  return bad(
    `of the newest ${count(looked, 'text')} ${parts.join(' and ')}, such as ${faults[0]?.blob.slice(0, 12)}…`,
    `Restore ${folder} from the backup that the journal belongs to; tasks that need these texts cannot go on.`,
  );
}
