/** Does nothing: what an activity costs by itself. */
export async function answer(): Promise<void> {}

/** Does nothing. */
export async function act(): Promise<void> {}
