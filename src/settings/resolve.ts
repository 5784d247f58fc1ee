import { readCommandPermissions } from './command-permissions.js';
import { type MergedSettings, mergeSettings } from './merge.js';
import { homePaths } from './paths.js';
import { readHomeSettings, readWorkspaceSettings } from './read.js';
import type { PartialSettings } from './schema.js';

/**
 * The settings of a new task: the home's file, the workspace's, and what the caller asks for.
 * @param workspace real path
 * @param files false: only what the caller asks for
 * @param env its `CLINE_COMMAND_PERMISSIONS` counts as well
 * @throws LonghaulError `bad-settings`
 */
export async function resolveSettings(
  from: { home: string; workspace: string; files: boolean },
  request: PartialSettings,
  env: NodeJS.ProcessEnv = process.env,
): Promise<MergedSettings & { profile?: string }> {
  const { settings } = homePaths(from.home);
  const home = from.files ? await readHomeSettings(settings) : {};
  const workspace = from.files ? await readWorkspaceSettings(from.workspace, settings) : {};
  const { profile } = home;
  const merged = mergeSettings({ home, workspace, request });
  const permissions = readCommandPermissions(env);
  if (permissions) merged.settings.policy.commands = [...(merged.settings.policy.commands ?? []), permissions];
  return { ...merged, ...(profile !== undefined && { profile }) };
}
