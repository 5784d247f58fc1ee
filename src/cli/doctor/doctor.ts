import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../domain/errors.js';
import { blobsCheck } from './blobs.js';
import { clockCheck } from './clock.js';
import { diskCheck } from './disk.js';
import type { Examination } from './examination.js';
import { gitCheck } from './git.js';
import { secretHider } from './hide.js';
import { homeCheck } from './home.js';
import { installCheck } from './install.js';
import { journalCheck } from './journal.js';
import { keysCheck } from './keys.js';
import { modelCheck } from './model.js';
import { nodeCheck } from './node.js';
import { profilesCheck } from './profiles.js';
import { ripgrepCheck } from './ripgrep.js';
import { bad, type Check, type Finding, type Row, warn } from './row.js';
import { searchAttributesCheck } from './search-attributes.js';
import { serviceCheck } from './service.js';
import { temporalCliCheck } from './temporal-cli.js';
import { temporalServerCheck } from './temporal-server.js';
import { uiCheck } from './ui.js';
import { workersCheck } from './workers.js';

/** The rows, in the order in which they are shown. */
export const CHECKS: readonly Check[] = [
  nodeCheck,
  installCheck,
  gitCheck,
  ripgrepCheck,
  homeCheck,
  diskCheck,
  temporalCliCheck,
  serviceCheck,
  temporalServerCheck,
  uiCheck,
  searchAttributesCheck,
  workersCheck,
  journalCheck,
  blobsCheck,
  keysCheck,
  profilesCheck,
  modelCheck,
  clockCheck,
];

/** ms that one row gets; all are looked at side by side. */
const ROW_MS = 5_000;

/** Looks at everything. Starts, fetches and changes nothing; no text holds a key. @returns the rows that apply */
export async function examine(exam: Examination, checks: readonly Check[] = CHECKS, rowMs = ROW_MS): Promise<Row[]> {
  const rows = await Promise.all(
    checks.map(async ({ name, look }) => ({ name, finding: await within(look(exam), rowMs) })),
  );
  const hide = secretHider(exam.env, (await exam.settings()).profile);
  return rows.flatMap(({ name, finding }) => {
    if (!finding) return [];
    const { state, found, next } = finding;
    return [{ name, state, found: hide(found), ...(next !== undefined && { next: hide(next) }) }];
  });
}

async function within(look: Promise<Finding | undefined>, ms: number): Promise<Finding | undefined> {
  const done = new AbortController();
  const late = sleep(ms, undefined, { signal: done.signal }).then(() =>
    warn(`could not be looked at within ${ms / 1000} s`, 'Try again when this machine is less busy.'),
  );
  try {
    return await Promise.race([look, late]);
  } catch (err) {
    const why = messageOf(err);
    return bad(`could not be looked at: ${why}`, 'Correct what the text names, then try again.');
  } finally {
    done.abort();
    late.catch(() => undefined);
  }
}
