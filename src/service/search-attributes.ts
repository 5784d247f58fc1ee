import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, isGrpcServiceError } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../devserver/flags.js';
import { LonghaulError } from '../domain/errors.js';

/** Numbers of temporal.api.enums.v1.IndexedValueType. */
export const VALUE_TYPE = { Keyword: 2, Datetime: 6 } as const;

/** gRPC codes for a server on which search attributes are managed elsewhere, such as Temporal Cloud. */
const NOT_ALLOWED = [7, 12, 16];
const ALREADY_EXISTS = 6;

/** ms until an attribute that was added must be listed. */
const VISIBLE_MS = 15_000;

/**
 * Registers the search attributes that tasks set, where they are missing; a server that has them is left alone.
 * Where they may not be listed, nothing is done.
 * @throws LonghaulError `bad-settings` when one exists with another type or may not be added
 */
export async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const missing = await missingAttributes(connection, namespace);
  if (missing.length === 0) return;
  const types = Object.fromEntries(missing.map((name) => [name, VALUE_TYPE[SEARCH_ATTRIBUTES[name]]]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: types });
  } catch (err) {
    if (!isGrpcServiceError(err) || err.code !== ALREADY_EXISTS) throw cannotAdd(missing, namespace, err);
  }
  const until = Date.now() + VISIBLE_MS;
  while ((await missingAttributes(connection, namespace)).length > 0) {
    if (Date.now() >= until) throw cannotAdd(missing, namespace, new Error('they were added but are not listed'));
    await sleep(200);
  }
}

type AttributeName = keyof typeof SEARCH_ATTRIBUTES;

async function missingAttributes(connection: Connection, namespace: string): Promise<AttributeName[]> {
  const known = await listAttributes(connection, namespace);
  if (!known) return [];
  const names = Object.keys(SEARCH_ATTRIBUTES) as AttributeName[];
  for (const name of names) {
    const type = known[name];
    if (type != null && type !== VALUE_TYPE[SEARCH_ATTRIBUTES[name]]) throw wrongType(name, namespace);
  }
  return names.filter((name) => known[name] == null);
}

/** Types of the custom attributes by name; undefined where they may not be listed. */
export async function listAttributes(
  connection: Connection,
  namespace: string,
): Promise<Record<string, number> | undefined> {
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    return customAttributes ?? {};
  } catch (err) {
    if (isGrpcServiceError(err) && NOT_ALLOWED.includes(err.code)) return undefined;
    throw err;
  }
}

function wrongType(name: AttributeName, namespace: string): LonghaulError {
  return new LonghaulError(
    'bad-settings',
    `The search attribute ${name} of namespace ${namespace} has another type than ${SEARCH_ATTRIBUTES[name]}.`,
    { kept: 'Nothing was changed.', next: 'Use another namespace, or remove that attribute.' },
  );
}

function cannotAdd(missing: AttributeName[], namespace: string, cause: unknown): LonghaulError {
  const wanted = missing.map((name) => `${name} (${SEARCH_ATTRIBUTES[name]})`).join(', ');
  return new LonghaulError(
    'bad-settings',
    `The namespace ${namespace} lacks search attributes, and they could not be added: ${wanted}.`,
    { kept: 'Nothing was changed.', next: 'Add them with the rights of an operator, then try again.', cause },
  );
}
