import { type MergedSettings, mergeSettings } from './merge.js';
import { homePaths } from './paths.js';
import { readHomeSettings, readWorkspaceSettings } from './read.js';
import type { PartialSettings } from './schema.js';

/**
 * The settings of a new task: the home's file, the workspace's, and what the caller asks for.
 * @param workspace real path
 * @param files false: only what the caller asks for
 * @throws LonghaulError `bad-settings`
 */
export async function resolveSettings(
  from: { home: string; workspace: string; files: boolean },
  request: PartialSettings,
): Promise<MergedSettings & { profile?: string }> {
  const { settings } = homePaths(from.home);
  const home = from.files ? await readHomeSettings(settings) : {};
  const workspace = from.files ? await readWorkspaceSettings(from.workspace, settings) : {};
  const { profile } = home;
  return { ...mergeSettings({ home, workspace, request }), ...(profile !== undefined && { profile }) };
}
