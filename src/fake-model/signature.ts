import { createHmac, timingSafeEqual } from 'node:crypto';

/** Fixed, so that a server started anew knows what an earlier one has signed. It protects nothing. */
const KEY = 'fake model';
const MAC_BYTES = 32;

/** The signature of a thinking block's text. */
export function sign(thinking: string): string {
  return mac(`thinking:${thinking}`).toString('base64');
}

/** Whether the text is, byte for byte, what was signed. */
export function isSigned(thinking: string, signature: string): boolean {
  return signature === sign(thinking);
}

/** The `data` of a redacted thinking block. */
export function seal(text: string): string {
  return Buffer.concat([mac(`redacted:${text}`), Buffer.from(text)]).toString('base64');
}

export function isSealed(data: string): boolean {
  const bytes = Buffer.from(data, 'base64');
  if (bytes.length < MAC_BYTES || bytes.toString('base64') !== data) return false;
  const text = bytes.subarray(MAC_BYTES).toString();
  return timingSafeEqual(bytes.subarray(0, MAC_BYTES), mac(`redacted:${text}`));
}

function mac(text: string): Buffer {
  return createHmac('sha256', KEY).update(text).digest();
}
