import { hostname } from 'node:os';
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';

/** What of this machine stands in a history, and the word that takes its place. */
type Replacements = readonly (readonly [string, string])[];

/** A history as it is kept: JSON, an event a line, without anything that is only this machine's. */
export function neutral(history: History, workspace: string): string {
  const replacements: Replacements = [
    [workspace, '/workspace'],
    [hostname(), 'host'],
  ];
  const { events } = scrubbed(JSON.parse(historyToJSON(history)), replacements) as { events: unknown[] };
  return `{"events":[\n${events.map((event) => JSON.stringify(event)).join(',\n')}\n]}\n`;
}

function scrubbed(value: unknown, replacements: Replacements): unknown {
  if (typeof value === 'string') return replaced(value, replacements);
  if (Array.isArray(value)) return value.map((one) => scrubbed(one, replacements));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([name, part]) => {
    if (name === 'identity' || name === 'stackTrace') return [name, ''];
    if (name === 'data' && typeof part === 'string') {
      const text = Buffer.from(part, 'base64').toString();
      return [name, Buffer.from(replaced(text, replacements)).toString('base64')];
    }
    return [name, scrubbed(part, replacements)];
  });
  return Object.fromEntries(entries);
}

function replaced(text: string, replacements: Replacements): string {
  return replacements.reduce((result, [from, to]) => result.replaceAll(from, to), text);
}
