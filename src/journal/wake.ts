/** Followers in this process, by database file: they learn of this process's writes without waiting. */
const followers = new Map<string, Set<() => void>>();

/** Calls `listener` after each write of this process to the file; returns how to stop. */
export function onWrite(path: string, listener: () => void): () => void {
  const set = followers.get(path) ?? new Set();
  followers.set(path, set.add(listener));
  return () => {
    set.delete(listener);
    if (set.size === 0 && followers.get(path) === set) followers.delete(path);
  };
}

export function wrote(path: string): void {
  for (const listener of followers.get(path) ?? []) listener();
}
