import type { IncomingMessage } from 'node:http';
import type { Rule } from './rules.js';
import type { ErrorType } from './steps.js';

/** The Messages API takes bodies up to 32 MB. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** A request that is not answered, in the words of the API's error body. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly type: ErrorType,
    readonly rules: Rule[],
    message: string,
  ) {
    super(message);
  }
}

/** Versions of the API; the second came with major version 1 of the TypeScript SDK and takes less (see check.ts). */
const VERSIONS = ['2023-06-01', '2026-10-21'] as const;
export type ApiVersion = (typeof VERSIONS)[number];

/**
 * For a request with a body, which has to be JSON.
 * @returns the version of the API that the request wants
 * @throws Refused when the key or the version is missing or wrong
 */
export function checkHeaders(req: IncomingMessage, apiKey: string | undefined): ApiVersion {
  const version = checkAccess(req, apiKey);
  if (!/^application\/json\b/.test(req.headers['content-type'] ?? '')) {
    throw new Refused(400, 'invalid_request_error', ['json'], 'content-type: this header has to be "application/json"');
  }
  return version;
}

/**
 * @returns the version of the API that the request wants
 * @throws Refused when the key or the version is missing or wrong
 */
export function checkAccess(req: IncomingMessage, apiKey: string | undefined): ApiVersion {
  const key = req.headers['x-api-key'] || /^Bearer (.+)$/.exec(req.headers.authorization ?? '')?.[1];
  if (!key || (apiKey !== undefined && key !== apiKey)) {
    throw new Refused(
      401,
      'authentication_error',
      ['key'],
      key ? 'the API key is not valid' : 'x-api-key: this header is required',
    );
  }
  const version = VERSIONS.find((known) => known === req.headers['anthropic-version']);
  if (version === undefined) {
    const message = `anthropic-version: this header has to be one of ${VERSIONS.join(', ')}`;
    throw new Refused(400, 'invalid_request_error', ['version'], message);
  }
  return version;
}

/** @throws Refused (413) above 32 MB, with the rest of the body read and dropped */
export async function readBody(req: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of req) {
    bytes += (piece as Buffer).length;
    if (bytes <= MAX_BODY_BYTES) pieces.push(piece as Buffer);
    else pieces.length = 0;
  }
  if (bytes > MAX_BODY_BYTES) {
    throw new Refused(413, 'request_too_large', ['size'], `the request of ${bytes} bytes is over ${MAX_BODY_BYTES}`);
  }
  return Buffer.concat(pieces);
}

/** @throws Refused when it is not JSON in UTF-8 */
export function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (err) {
    throw new Refused(400, 'invalid_request_error', ['json'], `the body is not JSON: ${(err as Error).message}`);
  }
}

/** Headers for the record: a key's value is not kept. */
export function safeHeaders(req: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(req.headers)) {
    const secret = name === 'x-api-key' || name === 'authorization';
    headers[name] = secret ? '(not kept)' : String(value);
  }
  return headers;
}
