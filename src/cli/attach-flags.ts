import { resolve } from 'node:path';
import type { AttachRequest } from '../client.js';
import type { Io } from './io.js';

/** `--image` and `--file`, each as often as it was given. */
export interface AttachFlags {
  image?: string[];
  file?: string[];
}

/** What the flags attach; paths are relative to where the command was called. */
export function attachedBy(io: Io, { image = [], file = [] }: AttachFlags): AttachRequest {
  const here = (path: string) => resolve(io.cwd, path);
  return { images: image.map(here), files: file.map(here) };
}

export function attachesAny({ image, file }: AttachFlags): boolean {
  return image !== undefined || file !== undefined;
}
