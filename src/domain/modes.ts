/** The original's two modes: in `plan` the model looks and talks, in `act` it changes things. */
export const MODES = ['plan', 'act'] as const;
export type Mode = (typeof MODES)[number];

export function isMode(value: unknown): value is Mode {
  return value === 'plan' || value === 'act';
}
