/** What came over the wire, for tests that must see what an SDK hides. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  /** Parsed `data` of each event that has arrived whole. */
  events: Record<string, unknown>[];
  /** The body of an answer that was not a stream. */
  text: string;
  /** The connection broke before the body had ended. */
  broken: boolean;
}

/** Posts a request without any SDK, and reads until the body ends or the connection breaks. */
export async function postRaw(
  url: string,
  body: unknown,
  more: { path?: string; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<RawAnswer> {
  const res = await fetch(`${url}${more.path ?? '/v1/messages'}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      'x-api-key': 'any',
      ...more.headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(more.signal && { signal: more.signal }),
  });
  const { text, broken } = await readAll(res);
  const streamed = (res.headers.get('content-type') ?? '').startsWith('text/event-stream');
  return { status: res.status, headers: res.headers, events: streamed ? readEvents(text) : [], text, broken };
}

async function readAll(res: Response): Promise<{ text: string; broken: boolean }> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const piece of res.body ?? []) text += decoder.decode(piece as Uint8Array, { stream: true });
    return { text, broken: false };
  } catch {
    return { text, broken: true };
  }
}

function readEvents(text: string): Record<string, unknown>[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .map((chunk) => JSON.parse(chunk.replace(/^event: .*\ndata: /, '')) as Record<string, unknown>);
}
