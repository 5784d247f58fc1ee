import { existsSync } from 'node:fs';
import { findTemporal } from '../devserver/binary.js';
import { LonghaulError } from '../domain/errors.js';
import { openJournal } from '../journal/open.js';
import { isUsable, profileFromEnv } from '../model/profiles.js';
import { connectTemporal, namesServer, type TemporalTarget, temporalTarget } from '../service/connect.js';
import { packageVersion } from '../service/package.js';
import { homePaths } from '../settings/paths.js';
import { type Io, printJson, printLine } from './io.js';
import { count } from './text.js';

/** Says what is there, starts and fetches nothing, and never shows a key. @returns 0, or 1 when something is broken */
export async function doctorCommand(io: Io, home: string, json: boolean): Promise<number> {
  const temporal = await temporalFacts(io, home);
  const journal = await journalFacts(home);
  const profile = profileFromEnv(io.env);
  const provider = {
    configured: isUsable(profile),
    baseUrl: withoutSecrets(profile.baseURL ?? 'https://api.anthropic.com'),
  };
  const problems = problemsOf(temporal, journal, provider.configured);
  const ok = !journal.problem && !temporal.problem;
  const facts = {
    type: 'doctor',
    node: process.versions.node,
    longhaul: packageVersion(),
    home,
    temporal,
    journal,
    provider,
    ok,
    problems,
  };
  if (json) printJson(io, facts);
  else printPeople(io, home, { temporal, journal, provider, problems });
  return ok ? 0 : 1;
}

interface TemporalFacts {
  address: string | null;
  namespace: string | null;
  ui: string | null;
  embedded: boolean;
  reachable: boolean;
  cli: string | null;
  problem?: string;
}

interface JournalFacts {
  path: string;
  /** null: there is none yet; the first command that needs one makes it. */
  id: string | null;
  ok: boolean;
  hosts: number;
  problem?: string;
}

async function temporalFacts(io: Io, home: string): Promise<TemporalFacts> {
  const nowhere = { address: null, namespace: null, ui: null, reachable: false };
  const cli = await temporalCli(io, home);
  try {
    const embedded = !namesServer(io.env);
    const target = await targetIfAny(io, home);
    if (!target) return { ...nowhere, embedded, cli };
    const { address, namespace, ui } = target;
    const problem = await connectProblem(io, home);
    const facts = { address, namespace, ui: ui ?? null, embedded, reachable: problem === undefined, cli };
    return problem === undefined ? facts : { ...facts, problem };
  } catch (err) {
    if (!LonghaulError.is(err)) throw err;
    return { ...nowhere, embedded: false, cli, problem: err.message };
  }
}

async function targetIfAny(io: Io, home: string): Promise<TemporalTarget | undefined> {
  try {
    return await temporalTarget({ home, env: io.env, start: false });
  } catch (err) {
    if (LonghaulError.is(err) && err.slug === 'temporal-unreachable') return undefined;
    throw err;
  }
}

async function connectProblem(io: Io, home: string): Promise<string | undefined> {
  try {
    await (await connectTemporal({ home, env: io.env, start: false })).close();
    return undefined;
  } catch (err) {
    if (LonghaulError.is(err)) return err.message;
    throw err;
  }
}

/** Where the Temporal CLI is; null when it would have to be fetched. */
async function temporalCli(io: Io, home: string): Promise<string | null> {
  try {
    return await findTemporal({ env: io.env, home, sources: [] });
  } catch {
    return null;
  }
}

async function journalFacts(home: string): Promise<JournalFacts> {
  const path = homePaths(home).journal;
  if (!existsSync(path)) return { path, id: null, ok: true, hosts: 0 };
  try {
    const journal = await openJournal({ home, readonly: true });
    try {
      return { path, id: journal.id.id, ok: true, hosts: (await journal.liveHosts()).length };
    } finally {
      await journal.close();
    }
  } catch (err) {
    if (!LonghaulError.is(err)) throw err;
    return { path, id: null, ok: false, hosts: 0, problem: err.message };
  }
}

function problemsOf(temporal: TemporalFacts, journal: JournalFacts, provider: boolean): string[] {
  return [
    ...(temporal.problem ? [temporal.problem] : []),
    ...(temporal.address === null ? ['The service is not running; run, attach, answer and send start it.'] : []),
    ...(journal.problem ? [journal.problem] : []),
    ...(provider
      ? []
      : ['No provider is configured: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server of your own.']),
  ];
}

function printPeople(
  io: Io,
  home: string,
  facts: {
    temporal: TemporalFacts;
    journal: JournalFacts;
    provider: { configured: boolean; baseUrl: string };
    problems: string[];
  },
): void {
  const { temporal, journal, provider, problems } = facts;
  const state = temporal.address === null ? 'not running' : temporal.reachable ? 'reachable' : 'not reachable';
  printLine(io, `Longhaul ${packageVersion()}, Node ${process.versions.node}`);
  printLine(io, `Home:        ${home}`);
  printLine(io, `Temporal:    ${temporal.address ?? '-'} (${temporal.embedded ? 'embedded' : 'configured'}, ${state})`);
  if (temporal.ui) printLine(io, `Temporal UI: ${temporal.ui}`);
  printLine(io, `Temporal CLI: ${temporal.cli ?? 'fetched when the service starts'}`);
  printLine(
    io,
    `Journal:     ${journal.path} (${journal.ok ? 'ok' : 'not usable'}), ${count(journal.hosts, 'worker host')} alive`,
  );
  printLine(io, `Provider:    ${provider.baseUrl} (${provider.configured ? 'configured' : 'not configured'})`);
  for (const problem of problems) printLine(io, `- ${problem}`);
}

/** A URL may carry a user and password. */
function withoutSecrets(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
  } catch {
    return '(not a URL)';
  }
}
