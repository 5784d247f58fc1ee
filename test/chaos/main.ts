import { playFaults } from './faults-command.js';
import { playPoints } from './points-command.js';

const USAGE = 'Usage: npm run chaos [-- points|faults [options]]';

/**
 * Crashes of all kinds: `points` at every place of a small task, `faults` at seeded moments of many tasks; both without a
 * word on it. Progress goes to stdout.
 * @returns the exit code
 */
export async function main([which, ...args]: string[]): Promise<number> {
  switch (which) {
    case undefined:
      return (await playPoints([])) + (await playFaults([])) > 0 ? 1 : 0;
    case 'points':
      return playPoints(args);
    case 'faults':
      return playFaults(args);
    default:
      process.stderr.write(`${USAGE}\n`);
      return 2;
  }
}
