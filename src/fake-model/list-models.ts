import { MODEL_IDS } from '../model/prices.js';
import { Refused } from './gate.js';

interface ModelEntry {
  type: 'model';
  id: string;
  display_name: string;
  created_at: string;
}

/** A page of the list of models, as the API gives it. */
export interface ModelList {
  data: ModelEntry[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
}

/** The API's own, for `limit`. */
const PAGE = { usual: 20, most: 1_000 } as const;

/** The API says so of models whose release date it does not know. */
const UNKNOWN_DATE = '1970-01-01T00:00:00Z';

/** Ids with a window suffix are this product's own, and no provider lists them. */
const LISTED = MODEL_IDS.filter((id) => !id.includes(':'));

/**
 * @param query `limit`, and `after_id` or `before_id`
 * @param models the ids there are
 * @throws Refused for a query that the API does not take
 */
export function modelList(query: URLSearchParams, models: readonly string[] = LISTED): ModelList {
  const limit = limitOf(query.get('limit'));
  const [after, before] = [query.get('after_id'), query.get('before_id')];
  if (after !== null && before !== null) throw refused('after_id and before_id cannot both be given');
  const cursor = after ?? before;
  const at = cursor === null ? -1 : models.indexOf(cursor);
  if (cursor !== null && at < 0) throw refused(`there is no model ${cursor} to begin at`);
  const rest = before === null ? models.slice(at + 1) : models.slice(0, at);
  const page = before === null ? rest.slice(0, limit) : rest.slice(-limit);
  return {
    data: page.map((id) => ({ type: 'model', id, display_name: id, created_at: dateOf(id) })),
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
    has_more: rest.length > page.length,
  };
}

function limitOf(text: string | null): number {
  if (text === null) return PAGE.usual;
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= PAGE.most) return limit;
  throw refused(`limit: ${text} is not a whole number from 1 to ${PAGE.most}`);
}

function dateOf(id: string): string {
  const [, year, month, day] = /-(\d{4})(\d\d)(\d\d)$/.exec(id) ?? [];
  return year === undefined ? UNKNOWN_DATE : `${year}-${month}-${day}T00:00:00Z`;
}

function refused(message: string): Refused {
  return new Refused(400, 'invalid_request_error', ['shape'], message);
}
