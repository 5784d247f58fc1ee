const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const MASK = 0xffffffffffffffffn;

/** Length of a hash in characters: 64 bits at 6 a character. */
export const HASH_LENGTH = 11;
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** 64-bit FNV-1a of a string's UTF-16 units, as 11 characters: for de-duplication inside workflows, not for security. */
export function shortHash(text: string): string {
  let hash = OFFSET;
  for (let i = 0; i < text.length; i++) {
    hash = ((hash ^ BigInt(text.charCodeAt(i))) * PRIME) & MASK;
  }
  let digits = '';
  for (let at = 0; at < HASH_LENGTH; at++, hash >>= 6n) digits = DIGITS[Number(hash & 63n)]! + digits;
  return digits;
}
