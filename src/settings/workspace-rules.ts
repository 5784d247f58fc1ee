import type { PartialSettings, SettingsProblem } from './schema.js';

/** What a workspace's file says and may not say: it cannot give a task more than its person does. */
export function loosened({ profile, yolo, strictPlanMode, asks, commands }: PartialSettings): SettingsProblem[] {
  const problems: SettingsProblem[] = [];
  const refuse = (path: string[], message: string) => problems.push({ path, message });
  if (profile !== undefined) refuse(['profile'], 'may not be set by a workspace');
  if (yolo) refuse(['yolo'], 'may only be false in a workspace');
  if (strictPlanMode === false) refuse(['strictPlanMode'], 'may only be true in a workspace');
  if (commands?.unasked) refuse(['commands', 'unasked'], 'may not be set by a workspace');
  for (const [kind, policy] of Object.entries(asks ?? {})) {
    if (policy?.default === 'yes') refuse(['asks', kind, 'default'], 'may only be "no" in a workspace');
  }
  return problems;
}
