import { type HomePaths, homePaths } from '../../settings/paths.js';
import { type JournalLook, lookAtJournal } from './journal-look.js';
import { lookAtModel, type ModelLook } from './model-look.js';
import { lookAtSettings, type SettingsLook } from './settings-look.js';
import {
  type CliLook,
  lookAtCli,
  lookAtServer,
  lookAtService,
  type ServerLook,
  type ServiceLook,
} from './temporal-look.js';

export interface ExaminationOptions {
  home: string;
  env: NodeJS.ProcessEnv;
  /** Sends nothing to the model provider. */
  offline?: boolean;
}

/** What several rows look at; each look is done once, at the first call. */
export interface Examination {
  home: string;
  env: NodeJS.ProcessEnv;
  paths: HomePaths;
  cli(): Promise<CliLook>;
  server(): Promise<ServerLook>;
  service(): Promise<ServiceLook>;
  journal(): Promise<JournalLook>;
  settings(): Promise<SettingsLook>;
  /** undefined: not asked, since that was not wanted or nothing says whom. */
  model(): Promise<ModelLook | undefined>;
  /** Ends the connections that were made. */
  close(): Promise<void>;
}

export function beginExamination({ home, env, offline = false }: ExaminationOptions): Examination {
  const paths = homePaths(home);
  const server = once(() => lookAtServer({ home, env }));
  const settings = once(() => lookAtSettings(home, env));
  return {
    home,
    env,
    paths,
    cli: once(() => lookAtCli({ home, env })),
    server,
    service: once(async () => lookAtService(paths)),
    journal: once(() => lookAtJournal(paths)),
    settings,
    model: once(async () => (offline ? undefined : lookAtModel(await settings(), env))),
    close: async () => {
      const look = await server().catch(() => undefined);
      if (look?.state === 'reachable') await look.temporal.close();
    },
  };
}

function once<T>(look: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= look();
    return result;
  };
}
