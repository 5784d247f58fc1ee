/** The original's two modes: in `plan` the model looks and talks, in `act` it changes things. */
export const MODES = ['plan', 'act'] as const;
export type Mode = (typeof MODES)[number];

/** Whether no tool that edits is carried out in a turn of this mode. */
export function editsNothing(mode: Mode, { strictPlanMode }: { strictPlanMode: boolean }): boolean {
  return mode === 'plan' && strictPlanMode;
}

export function isMode(value: unknown): value is Mode {
  return value === 'plan' || value === 'act';
}
