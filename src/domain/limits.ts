/** Largest prompt or message, in bytes of UTF-8: as much text as `read_file` gives, and well within a model's window. */
export const MAX_TEXT_BYTES = 400_000;
