const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;
const MASK = 0xffffffffffffffffn;

/** 64-bit FNV-1a of a string's UTF-16 units, as 16 hex digits: for de-duplication inside workflows, not for security. */
export function shortHash(text: string): string {
  let hash = OFFSET;
  for (let i = 0; i < text.length; i++) {
    hash = ((hash ^ BigInt(text.charCodeAt(i))) * PRIME) & MASK;
  }
  return hash.toString(16).padStart(16, '0');
}
