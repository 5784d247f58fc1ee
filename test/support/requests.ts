export interface ToolResult {
  text: string;
  error: boolean;
}

/** Results in the last user message of a request's body, by call. */
export function resultsOf(body: unknown): ToolResult[] {
  const { messages } = body as { messages: { role: string; content: unknown }[] };
  const content = messages.at(-1)?.content as { type: string; is_error?: boolean; content: { text: string }[] }[];
  return content.flatMap((block) =>
    block.type === 'tool_result' ? [{ text: block.content[0]?.text ?? '', error: block.is_error === true }] : [],
  );
}

/** Texts in the last user message of a request's body: notices, and what people said. */
export function lastTexts(body: unknown): string[] {
  const { messages } = body as { messages: { content: unknown }[] };
  const content = messages.at(-1)?.content as { type: string; text?: string }[];
  return content.flatMap((block) => (block.type === 'text' ? [block.text ?? ''] : []));
}
