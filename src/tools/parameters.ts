import { z } from 'zod';

/**
 * Parameters as models send them: a string, number or boolean stands for the other where the meaning is plain, and
 * null or an empty string for an optional one that is left out.
 */
export function text(description: string) {
  return z.preprocess(asText, z.string()).describe(description);
}

/** A text that must not be blank. */
export function words(description: string) {
  return z.preprocess(asText, z.string().regex(/\S/, 'must not be blank')).describe(description);
}

export function optionalWords(description: string) {
  return z.preprocess((value) => unlessAbsent(asText(value)), z.string().optional()).describe(description);
}

export function optionalInteger(description: string) {
  return z.preprocess((value) => unlessAbsent(asNumber(value)), z.int().optional()).describe(description);
}

export function optionalFlag(description: string) {
  return z.preprocess((value) => unlessAbsent(asFlag(value)), z.boolean().optional()).describe(description);
}

/** A list of texts: an array, a JSON array in a string, or one item a line. */
export function optionalList(description: string) {
  return z.preprocess((value) => unlessAbsent(asList(value)), z.array(z.string()).optional()).describe(description);
}

function unlessAbsent(value: unknown): unknown {
  return value === null || (typeof value === 'string' && value.trim() === '') ? undefined : value;
}

function asText(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
}

function asNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value;
}

function asFlag(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const word = value.trim().toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : value;
}

function asList(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asText);
  if (typeof value !== 'string') return value;
  try {
    const parsed: unknown = JSON.parse(value);
    if (Array.isArray(parsed)) return parsed.map(asText);
  } catch {
    // Not JSON: read as lines.
  }
  return value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
