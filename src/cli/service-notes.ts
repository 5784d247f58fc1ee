import { serviceNotes } from '../service/differences.js';
import { packageIdentity } from '../service/package.js';
import { readState } from '../service/state.js';
import { homePaths } from '../settings/paths.js';
import { withCommand } from './called-as.js';
import { type Io, printNote } from './io.js';

/** Says on stderr, a line each, in what a service that is running already differs from what its caller has. */
export async function printServiceNotes(io: Io, home: string): Promise<void> {
  const state = readState(homePaths(home));
  const notes = state ? serviceNotes(state, packageIdentity(), io.env) : [];
  if (notes.length === 0) return;
  // loaded only now: where a server is named, this service is not used
  const { namesServer } = await import('../service/named-server.js');
  if (!namesServer(io.env)) for (const note of notes) printNote(io, `note:  ${withCommand(note, io.command)}`);
}
