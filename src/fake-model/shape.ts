import { z } from 'zod';

const cacheControl = z.strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).nullish();

const text = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  citations: z.array(z.unknown()).nullish(),
  cache_control: cacheControl,
});

const imageSource = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
  z.strictObject({ type: z.literal('url'), url: z.string().regex(/^https?:\/\//) }),
  z.strictObject({ type: z.literal('file'), file_id: z.string() }),
]);
const image = z.strictObject({ type: z.literal('image'), source: imageSource, cache_control: cacheControl });
const document = z.looseObject({ type: z.literal('document'), source: z.looseObject({}), cache_control: cacheControl });

/** A string stands for one text block. */
function blocks<T extends z.ZodType>(block: T) {
  return z.preprocess((value) => (typeof value === 'string' ? [{ type: 'text', text: value }] : value), z.array(block));
}

const toolId = z.string().regex(/^[A-Za-z0-9_-]+$/);
const callerAndMark = { caller: z.looseObject({}).optional(), cache_control: cacheControl };
const serverResult = { tool_use_id: toolId, content: z.unknown(), ...callerAndMark };

const block = z.discriminatedUnion('type', [
  text,
  image,
  document,
  z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.strictObject({
    type: z.literal('tool_use'),
    id: toolId,
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
    ...callerAndMark,
  }),
  z.strictObject({
    type: z.literal('tool_result'),
    tool_use_id: toolId,
    content: blocks(z.discriminatedUnion('type', [text, image, document])).optional(),
    is_error: z.boolean().optional(),
    cache_control: cacheControl,
  }),
  z.strictObject({
    type: z.literal('server_tool_use'),
    id: z.string().regex(/^srvtoolu_[A-Za-z0-9_-]+$/),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
    ...callerAndMark,
  }),
  z.strictObject({ type: z.literal('web_search_tool_result'), ...serverResult }),
  z.strictObject({ type: z.literal('web_fetch_tool_result'), ...serverResult }),
]);

const message = z.strictObject({ role: z.enum(['user', 'assistant']), content: blocks(block) });

const thinking = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('enabled'),
    budget_tokens: z.int(),
    display: z.enum(['summarized', 'omitted']).nullish(),
  }),
  z.strictObject({ type: z.literal('adaptive'), display: z.enum(['summarized', 'omitted']).nullish() }),
  z.strictObject({ type: z.enum(['between_tools', 'disabled']) }),
]);

const parallel = { disable_parallel_tool_use: z.boolean().optional() };
const toolChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), ...parallel }),
  z.strictObject({ type: z.literal('any'), ...parallel }),
  z.strictObject({ type: z.literal('tool'), name: z.string(), ...parallel }),
  z.strictObject({ type: z.literal('none') }),
]);

/** Fields that the Messages API takes; it refuses all others, and so does this. */
export const requestShape = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1).optional(),
  messages: z.array(message).min(1),
  system: blocks(text).optional(),
  tools: z.array(z.looseObject({ name: z.string(), cache_control: cacheControl })).optional(),
  tool_choice: toolChoice.optional(),
  thinking: thinking.optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  stop_sequences: z.array(z.string().regex(/\S/, 'a stop sequence has to hold more than white space')).optional(),
  metadata: z.strictObject({ user_id: z.string().max(256).nullish() }).optional(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  cache_control: cacheControl,
  container: z.unknown().optional(),
  context_management: z.looseObject({}).nullish(),
  diagnostics: z.looseObject({}).nullish(),
  inference_geo: z.string().nullish(),
  mcp_servers: z.array(z.looseObject({})).optional(),
  output_config: z.looseObject({}).optional(),
  speed: z.enum(['standard', 'fast']).nullish(),
});

/** A tool that the client runs. Tools that the provider runs have another `type` and are not looked at. */
export const toolShape = z.strictObject({
  type: z.literal('custom').nullish(),
  name: z.string(),
  description: z.string().optional(),
  input_schema: z.record(z.string(), z.unknown()),
  cache_control: cacheControl,
  strict: z.boolean().optional(),
  eager_input_streaming: z.boolean().nullish(),
  defer_loading: z.boolean().optional(),
  allowed_callers: z.array(z.string()).optional(),
  input_examples: z.array(z.record(z.string(), z.unknown())).optional(),
});

/** A request whose strings have become text blocks. */
export type MessagesRequest = z.infer<typeof requestShape>;
export type RequestMessage = MessagesRequest['messages'][number];
export type RequestBlock = RequestMessage['content'][number];

/** What does not fit, as `path: reason`. */
export function shapeProblem(error: z.ZodError, prefix: string[] = []): string {
  const issue = error.issues[0];
  if (issue === undefined) return 'the request does not fit';
  const path = [...prefix, ...issue.path.map(String)].join('.');
  if (issue.code === 'unrecognized_keys') {
    return `${[path, issue.keys[0]].filter(Boolean).join('.')}: this field is not known here`;
  }
  return `${path || 'body'}: ${issue.message}`;
}
