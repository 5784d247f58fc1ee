import { serviceNotes } from '../service/differences.js';
import { requireRunning } from '../service/health.js';
import { packageIdentity } from '../service/package.js';
import { down, runForeground, up } from '../service/up.js';
import { withCommand } from './called-as.js';
import { type Io, printJson, printLine, printNote } from './io.js';
import { Starting } from './starting.js';

/**
 * Starts the service if it is not running, and replaces one of an older version or another build; with `foreground` it
 * runs here until a signal ends it.
 */
export async function upCommand(
  io: Io,
  home: string,
  flags: { foreground?: boolean; json?: boolean },
): Promise<number> {
  if (flags.foreground) {
    await runForeground({ home, env: io.env });
    return 0;
  }
  const began = Date.now();
  const starting = new Starting(io);
  const found = await starting.until(up({ home, env: io.env, replace: true, ...starting.reports }));
  const { environment: _, processStart: __, ...state } = await requireRunning(home, found);
  for (const note of serviceNotes(found, packageIdentity(), io.env))
    printNote(io, `note:  ${withCommand(note, io.command)}`);
  if (flags.json) {
    printJson(io, { type: 'service', state: 'up', home, ...state });
    return 0;
  }
  printLine(
    io,
    `${state.started >= began ? 'The service has been started' : 'The service was running already'} (pid ${state.pid}).`,
  );
  printLine(io, `Temporal:    ${state.address}, namespace ${state.namespace}`);
  printLine(io, `Temporal UI: ${state.ui}`);
  printLine(io, `Home:        ${home}`);
  return 0;
}

/** Stops the service; open tasks go on when it is up again. */
export async function downCommand(io: Io, home: string, json: boolean): Promise<number> {
  await down({ home });
  if (json) printJson(io, { type: 'service', state: 'down', home });
  else printLine(io, 'The service is down. Open tasks go on when it is up again.');
  return 0;
}
