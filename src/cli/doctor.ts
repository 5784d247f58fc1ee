import { worksInFolders } from '../domain/queues.js';
import { isUsable, PROVIDER_ADDRESS, shownAddress } from '../model/profiles.js';
import { packageVersion } from '../service/package.js';
import { examine } from './doctor/doctor.js';
import { beginExamination, type Examination } from './doctor/examination.js';
import { secretHider } from './doctor/hide.js';
import { problemOf, rowLines } from './doctor/row-lines.js';
import { serverNamed } from './doctor/temporal-look.js';
import { columns, type Io, painter, printJson, printLine } from './io.js';

/** Says what is there, starts and fetches nothing, and never shows a key. @returns 0, or 1 when something is broken */
export async function doctorCommand(
  io: Io,
  home: string,
  flags: { json?: boolean; offline?: boolean },
): Promise<number> {
  const exam = beginExamination({ home, env: io.env, offline: flags.offline ?? false });
  try {
    const rows = await examine(exam);
    const ok = rows.every(({ state }) => state !== 'bad');
    if (flags.json)
      printJson(io, { type: 'doctor', ...(await facts(exam)), ok, problems: rows.flatMap(problemOf), rows });
    else {
      const look = { paint: painter(io.colour), width: columns(io), command: io.command };
      for (const line of rowLines(rows, look)) printLine(io, line);
    }
    return ok ? 0 : 1;
  } finally {
    // not awaited: a connection that hangs must not hold the command
    void exam.close();
  }
}

/** What programs read by name. */
async function facts(exam: Examination): Promise<Record<string, unknown>> {
  const { env, home, paths } = exam;
  const [server, cli, look, settings] = await Promise.all([exam.server(), exam.cli(), exam.journal(), exam.settings()]);
  const target = 'target' in server ? server.target : undefined;
  const { profile, name } = settings;
  const readable = look.state === 'readable' ? look.facts : undefined;
  const sound = look.state === 'readable' && look.facts.id !== null && !look.flaws?.length;
  return {
    node: process.versions.node,
    longhaul: packageVersion(),
    home,
    temporal: {
      address: target === undefined ? null : secretHider(env, profile)(target.address),
      namespace: target?.namespace ?? null,
      ui: target?.ui ?? null,
      embedded: !serverNamed(env),
      reachable: server.state === 'reachable',
      cli: cli.candidates.find(({ flaw }) => flaw === undefined)?.path ?? null,
    },
    journal: {
      path: paths.journal,
      id: readable?.id ?? null,
      ok: look.state === 'none' || sound,
      hosts: readable?.leases.filter(({ role, until }) => worksInFolders(role) && until > Date.now()).length ?? 0,
    },
    provider: {
      profile: name,
      configured: isUsable(profile),
      baseUrl: shownAddress(profile.baseURL ?? PROVIDER_ADDRESS),
    },
  };
}
