import type { ToolProtocol } from '../domain/settings.js';
import type { Usage } from '../domain/usage.js';

/** USD per million tokens. */
interface Price {
  in: number;
  out: number;
  cacheWrite: number;
  cacheRead: number;
}

export interface ModelInfo {
  /** Id sent to the provider. */
  api: string;
  /** Tokens */
  window: number;
  /** Tokens */
  maxOutput: number;
  price: Price;
  /** Price of a request whose whole input is over 200,000 tokens. */
  longPrice?: Price;
  betas: string[];
  /** How it calls tools, where the settings leave that open. */
  toolProtocol: ToolProtocol;
}

export const DEFAULT_MODEL = 'claude-sonnet-5';
/** Input tokens from which the long-context price applies, as in the original's table. */
const LONG_CONTEXT = 200_000;
/** `anthropic-beta` header of the 1M window. */
const BETA_1M = 'context-1m-2025-08-07';

const price = (i: number, out: number, cacheWrite: number, cacheRead: number): Price => ({
  in: i,
  out,
  cacheWrite,
  cacheRead,
});

const SONNET = price(3, 15, 3.75, 0.3);
const OPUS = price(5, 25, 6.25, 0.5);
const OLD_OPUS = price(15, 75, 18.75, 1.5);
const FABLE = price(10, 50, 12.5, 1);

/** Window 200k for all; prices as in Cline 4.0.10. [max output tokens, price] */
const TABLE: Record<string, [number, Price]> = {
  'claude-sonnet-5': [128_000, price(2, 10, 2.5, 0.2)],
  'claude-sonnet-4-6': [64_000, SONNET],
  'claude-sonnet-4-5-20250929': [64_000, SONNET],
  'claude-sonnet-4-20250514': [64_000, SONNET],
  'claude-haiku-4-5-20251001': [64_000, price(1, 5, 1.25, 0.1)],
  'claude-opus-4-6': [128_000, OPUS],
  'claude-opus-4-7': [128_000, OPUS],
  'claude-opus-4-8': [128_000, OPUS],
  'claude-opus-4-5-20251101': [64_000, OPUS],
  'claude-opus-4-1-20250805': [32_000, OLD_OPUS],
  'claude-opus-4-20250514': [32_000, OLD_OPUS],
  'claude-fable-5': [128_000, FABLE],
  'claude-3-7-sonnet-20250219': [128_000, SONNET],
  'claude-3-5-sonnet-20241022': [8_192, SONNET],
  'claude-3-5-haiku-20241022': [8_192, price(0.8, 4, 1, 0.08)],
  'claude-3-opus-20240229': [4_096, OLD_OPUS],
  'claude-3-haiku-20240307': [4_096, price(0.25, 1.25, 0.3, 0.03)],
};

const LONG_PRICES: [RegExp, Price, Price][] = [
  [/sonnet/, SONNET, price(6, 22.5, 7.5, 0.6)],
  [/opus/, OPUS, price(10, 37.5, 12.5, 1)],
  [/fable/, FABLE, FABLE],
];
/** Models that may carry the suffix `:1m`. */
const WITH_1M = /^claude-(sonnet-(5|4-6|4-5|4)|opus-4-[678]|fable-5)(-\d{8})?$/;

/** The ids that are known here, with those of the window of a million tokens. */
export const MODEL_IDS: readonly string[] = Object.keys(TABLE).flatMap((id) =>
  WITH_1M.test(id) ? [id, `${id}:1m`] : [id],
);

/**
 * What is known of a model id. The suffix `:1m` asks for the window of a million tokens. An id that is not in the table
 * is sent as it is, and priced as the default model, since the provider may know newer models than this table. All Claude
 * models call tools natively, so other ids are taken to do so as well; the setting `toolProtocol` says when one does not.
 */
export function modelInfo(id: string): ModelInfo {
  const wants1m = id.endsWith(':1m');
  const api = wants1m ? id.slice(0, -3) : id;
  const [maxOutput, base] = TABLE[api] ?? TABLE[DEFAULT_MODEL]!;
  const info: ModelInfo = { api, window: 200_000, maxOutput, price: base, betas: [], toolProtocol: 'native' };
  const tiers = LONG_PRICES.find(([name]) => name.test(api));
  if (!wants1m || !WITH_1M.test(api) || !tiers) return info;
  return { ...info, window: 1_000_000, price: tiers[1], longPrice: tiers[2], betas: [BETA_1M] };
}

/**
 * What a request costs at most, before it is made: its input in USD, as if all of it were new to the provider's cache
 * and written to it, and USD for a token of output.
 */
export function costAhead(model: ModelInfo, inputTokens: number): { inputCost: number; outputPrice: number } {
  const p = priceOf(model, inputTokens);
  return { inputCost: (inputTokens * Math.max(p.in, p.cacheWrite)) / 1_000_000, outputPrice: p.out / 1_000_000 };
}

function priceOf(model: ModelInfo, input: number): Price {
  return model.longPrice && input > LONG_CONTEXT ? model.longPrice : model.price;
}

/** Cost in USD of one request. */
export function costOf(model: ModelInfo, usage: Usage): number {
  const p = priceOf(model, usage.inputTokens + usage.cacheWriteTokens + usage.cacheReadTokens);
  const sum =
    usage.inputTokens * p.in +
    usage.outputTokens * p.out +
    usage.cacheWriteTokens * p.cacheWrite +
    usage.cacheReadTokens * p.cacheRead;
  return sum / 1_000_000;
}
