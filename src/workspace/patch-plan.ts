import { ToolError } from '../tools/tool.js';
import { type FileContent, readWholeFile, sha256 } from './files.js';
import type { FilePatch } from './patch.js';
import { type ResolvedPath, resolveInWorkspace } from './paths.js';

/** A file of a patch, with where its paths lead. */
export interface PatchTarget {
  patch: FilePatch;
  target: ResolvedPath;
  moveTo?: ResolvedPath;
}

/**
 * Resolves every path of a patch.
 *
 * @throws ToolError for a path that no tool may use, a link, or two paths that are one file
 */
export async function resolvePatch(patches: readonly FilePatch[], workspace: string): Promise<PatchTarget[]> {
  const targets: PatchTarget[] = [];
  const seen = new Map<string, string>();
  for (const patch of patches) {
    const target = await resolveInWorkspace(workspace, patch.path);
    const given = patch.kind === 'update' ? patch.moveTo : undefined;
    const moved = given === undefined ? undefined : await resolveInWorkspace(workspace, given);
    const moveTo = moved?.real === target.real ? undefined : moved;
    if (target.link && (patch.kind === 'delete' || moveTo)) {
      throw new ToolError(
        `"${patch.path}" is a symbolic link to "${target.display}": name the file itself, or use a command for the link.` +
          ' Nothing was changed.',
      );
    }
    for (const { real, display } of moveTo ? [target, moveTo] : [target]) {
      if (seen.has(real)) {
        throw new ToolError(
          `The patch names the file "${display}" twice. Put all of its changes under one header. Nothing was changed.`,
        );
      }
      seen.set(real, display);
    }
    targets.push({ patch, target, ...(moveTo && { moveTo }) });
  }
  return targets;
}

/**
 * Reads the files of a patch as they are now.
 *
 * @returns by real path; nothing for those that do not exist
 * @throws ToolError when one cannot be read
 */
export async function readTargets(targets: readonly PatchTarget[]): Promise<Map<string, FileContent>> {
  const contents = new Map<string, FileContent>();
  for (const { target } of targets) if (target.exists) contents.set(target.real, await readWholeFile(target));
  return contents;
}

/** One hash over the state of all files, so that any of them having changed can be told. */
export function baseOf(targets: readonly PatchTarget[], contents: ReadonlyMap<string, FileContent>): string {
  const states = targets.flatMap(({ target, moveTo }) => [
    [target.real, contents.get(target.real)?.sha256 ?? null],
    ...(moveTo ? [[moveTo.real, moveTo.exists]] : []),
  ]);
  return sha256(JSON.stringify(states));
}

/** @throws ToolError when a file is there that must not be, or the other way round */
export function checkExistence({ patch, target, moveTo }: PatchTarget): void {
  const problem = existenceProblem(patch, target, moveTo);
  if (problem) throw new ToolError(`${problem} Nothing was changed.`);
}

function existenceProblem(
  patch: FilePatch,
  target: ResolvedPath,
  moveTo: ResolvedPath | undefined,
): string | undefined {
  const name = `"${target.display}"`;
  if (target.kind === 'directory') return `${name} is a directory.`;
  switch (patch.kind) {
    case 'add':
      return target.exists ? `${name} exists already: change it with "Update File", or write it anew.` : undefined;
    case 'delete':
      return target.exists ? undefined : `${name} does not exist, so it cannot be deleted.`;
    case 'update':
      if (!target.exists) return `${name} does not exist, so it cannot be updated. Use "Add File" for a new one.`;
      return moveTo?.exists ? `"${moveTo.display}" exists already, so nothing can be moved there.` : undefined;
  }
}
