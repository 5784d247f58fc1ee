/** Names of what is refused. V1 to V11 are described in docs/fake-model.md. */
export type Rule =
  | 'V1'
  | 'V2'
  | 'V3'
  | 'V4'
  | 'V5'
  | 'V6'
  | 'V7'
  | 'V8'
  | 'V9'
  | 'V10'
  | 'V11'
  | 'json'
  | 'shape'
  | 'first-message'
  | 'empty-message'
  | 'cache-marks'
  | 'max-tokens'
  | 'thinking'
  | 'tool-choice'
  | 'window'
  | 'version'
  | 'key'
  | 'model'
  | 'size'
  | 'no-turn'
  | 'internal';

export interface Violation {
  rule: Rule;
  message: string;
}
