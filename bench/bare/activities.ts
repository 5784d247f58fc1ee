/** Does nothing: what an activity costs by itself. */
export async function answer(): Promise<void> {}

/** @returns when it has begun, ms since the epoch */
export async function stamp(): Promise<number> {
  return performance.timeOrigin + performance.now();
}

/** Does nothing. */
export async function act(): Promise<void> {}
