import { cut } from '../domain/text.js';

/** Options that travel with a question; more, or longer ones, would not fit into workflow state. */
const MAX_OPTIONS = 6;
const MAX_OPTION_CHARS = 200;

/** The options that a person is shown. */
export function choices(given: readonly string[] | undefined): string[] {
  const options = (given ?? []).map((option) => option.trim()).filter((option) => option !== '');
  return [...new Set(options)].slice(0, MAX_OPTIONS).map((option) => cut(option, MAX_OPTION_CHARS));
}
