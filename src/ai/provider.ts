/**
 * What a provider of AI can do. One that lacks something leaves it out.
 * Next hop: `openai-compatible.ts`, `local.ts`.
 */
import type { Message } from "../contract/ai.ts";
import { SvcError } from "../kit/svc-error.ts";

export interface TokenCount {
  inputTokens: number;
  outputTokens: number;
}

export interface ChatRequest {
  model: string;
  system?: string | undefined;
  messages: Message[];
  maxTokens: number;
  temperature?: number | undefined;
  signal: AbortSignal;
}

export interface Provider {
  chat?(request: ChatRequest): Promise<{ text: string; usage: TokenCount }>;
  /** Yields text; at its end `usage` is known. */
  stream?(request: ChatRequest): { text: AsyncIterable<string>; usage: Promise<TokenCount> };
  embed?(model: string, text: string, signal: AbortSignal): Promise<{ embedding: number[]; usage: TokenCount }>;
  /** @returns a score for each document, higher is better */
  rerank?(model: string, query: string, documents: string[], signal: AbortSignal): Promise<number[]>;
  extractText?(
    model: string,
    image: Uint8Array,
    mediaType: string,
    signal: AbortSignal,
  ): Promise<{ text: string; usage: TokenCount }>;
  synthesize?(
    model: string,
    input: string,
    voice: string | undefined,
    signal: AbortSignal,
  ): Promise<{ audio: Uint8Array; mediaType: string }>;
  transcribe?(model: string, audio: Uint8Array, mediaType: string, signal: AbortSignal): Promise<string>;
}

/** What went wrong at a provider, in words of ours: its own may hold the prompt, or the key. */
export function providerFailed(what: string, cause?: unknown): SvcError {
  if (cause instanceof SvcError) return cause;
  const name = cause instanceof Error ? cause.name : "";
  return new SvcError("PROVIDER_FAILED", undefined, {
    hint: `${what}.`,
    cause: new Error(`AI provider: ${what}${name && name !== "Error" ? ` (${name})` : ""}`),
  });
}
