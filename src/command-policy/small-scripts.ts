/** Programs for `sed` and `awk` that are so small that what they do can be seen: they print. */

/** Prints, counts, deletes lines or replaces text in what is printed; nothing that writes (`w`) or executes (`e`). */
const SED_LINE = String.raw`(?:\+?\d+|\$|/[^/\\\n;{}]*/)`;
const SED_STEP =
  `(?:${SED_LINE}(?:,${SED_LINE})?!? *)?` +
  String.raw`(?:[pdq=]|s/(?:[^/\\\n]|\\[^\n])*/(?:[^/\\\n]|\\[^\n])*/[gIip0-9]*|s#[^#\\\n]*#[^#\\\n]*#[gIip0-9]*|s\|[^|\\\n]*\|[^|\\\n]*\|[gIip0-9]*)`;
export const SED_SCRIPT = new RegExp(`^ *${SED_STEP}(?: *; *${SED_STEP})* *;? *$`);

/** Prints columns, lines and texts, of all lines or of some; no redirection, no `system`, no `getline`. */
const AWK_TERM = String.raw`(?:\$(?:\d+|NF)|NR|NF|FNR|"[^"\\\n]*"|\d+)`;
const AWK_TEST = `${AWK_TERM} *(?:==|!=|<=|>=|<|>) *${AWK_TERM}`;
const AWK_PATTERN = String.raw`(?:/[^/\\\n]*/|${AWK_TERM} *~ */[^/\\\n]*/|${AWK_TEST}(?: *(?:&&|\|\|) *${AWK_TEST})*)`;
const AWK_PRINT = String.raw`\{ *print(?: +${AWK_TERM}(?: *,? *${AWK_TERM})*)? *;? *\}`;
export const AWK_SCRIPT = new RegExp(`^ *(?:${AWK_PATTERN}|(?:${AWK_PATTERN})? *${AWK_PRINT}) *$`);
