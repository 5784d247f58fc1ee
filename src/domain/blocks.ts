/** Image types that the Messages API takes. */
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];

/** Content held by the journal and named by its SHA-256 (hex). `bytes` is the length of its UTF-8 form. */
export interface BlobRef {
  blob: string;
  bytes: number;
}

/** Text by value when it is short, by reference when it is not. */
export type TextRef = { text: string } | BlobRef;

export function isBlobRef(value: TextRef): value is BlobRef {
  return 'blob' in value;
}

/** A reference as somebody sent it, when it is one. */
export function readBlobRef(value: unknown): BlobRef | undefined {
  const { blob, bytes } = (value ?? {}) as { blob?: unknown; bytes?: unknown };
  if (typeof blob !== 'string' || !/^[0-9a-f]{64}$/.test(blob)) return undefined;
  return typeof bytes === 'number' && bytes >= 0 ? { blob, bytes } : undefined;
}

/** Text up to this many UTF-8 bytes may travel by value in a workflow payload (a payload has 4 KB at most). */
export const INLINE_TEXT_BYTES = 1024;

/** One block of a model's answer, in the order and form in which it has to be sent back. */
export type AnswerBlock = TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolUseBlock;

export interface TextBlock {
  type: 'text';
  text: string;
}
/** Sent back byte for byte: the provider checks the signature. */
export interface ThinkingBlock {
  type: 'thinking';
  thinking: string;
  signature: string;
}
export interface RedactedThinkingBlock {
  type: 'redacted_thinking';
  data: string;
}
export interface ToolUseBlock {
  type: 'tool_use';
  name: string;
  /** Always an object, also when the streamed JSON was not one: then it is `{}` and `problem` says what was wrong. */
  input: Record<string, unknown>;
  /** Position of the block in the answer as streamed; with the turn key it makes the call key. */
  block: number;
  /** Of a call that came as text: as it was written, with the white space before it. It is sent back like that. */
  raw?: string;
  problem?: CallProblem;
}

/** Why a call can never be executed. It is answered with an error result instead. */
export interface CallProblem {
  kind: 'bad_json' | 'bad_arguments' | 'unknown_tool' | 'truncated' | 'refused_path' | 'denied_command';
  message: string;
}

/** An image by reference; it becomes base64 only in the request itself. */
export interface ImageBlock {
  type: 'image';
  mediaType: ImageType;
  /** SHA-256 of its bytes, hex. */
  blob: string;
  bytes: number;
}

/** What a tool gives back to the model. Text is never blank. */
export type ResultBlock = TextBlock | ImageBlock;

/** A message of a conversation, in the Messages API's own shape (without cache marks). */
export interface Message {
  role: 'user' | 'assistant';
  content: MessageBlock[];
}

/** A conversation as far as it was read, oldest message first. */
export interface Conversation {
  messages: Message[];
  /** Characters (`sizeOf`) of the messages between the first and the second one that were not read. */
  skipped: number;
}

export type MessageBlock =
  | TextBlock
  | ImageBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> }
  | { type: 'tool_result'; tool_use_id: string; content: ResultBlock[]; is_error?: boolean };
