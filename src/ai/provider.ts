/** The operations of an AI provider. A provider omits operations that it lacks. Next hop: `openai-compatible.ts`, `local.ts`. */
import type { Message } from "../contract/ai.ts";
import { SvcError } from "../kit/svc-error.ts";

/** The most texts of one `ai.embedMany`. Providers accept 2,048 in a request. */
export const mostTexts = 1_000;

export interface TokenCount {
  inputTokens: number;
  outputTokens: number;
}

/** The tokens of a call; a count that the provider does not report is missing. */
export type ReportedUsage = Partial<TokenCount>;

/** Why an answer is not complete. */
export type Incomplete = "length" | "content-filter";

export interface ChatAnswer {
  text: string;
  usage: ReportedUsage;
  /** Missing for a complete answer. */
  incomplete?: Incomplete;
}

export interface StreamingAnswer {
  text: AsyncIterable<string>;
  /** Resolves when the text has ended well. */
  end: Promise<Omit<ChatAnswer, "text">>;
}

export interface ChatRequest {
  model: string;
  system?: string | undefined;
  messages: Message[];
  maxTokens: number;
  temperature?: number | undefined;
  signal: AbortSignal;
}

/** `user` is whose turn it is, where calls wait for each other. (Default: one turn for all who give none) */
export interface Provider {
  chat?(request: ChatRequest): Promise<ChatAnswer>;
  stream?(request: ChatRequest): StreamingAnswer;
  /** @returns an embedding for each text, in their order */
  embed?(
    model: string,
    texts: string[],
    signal: AbortSignal,
  ): Promise<{ embeddings: number[][]; usage: ReportedUsage }>;
  /** @returns a score for each document, higher is better */
  rerank?(model: string, query: string, documents: string[], signal: AbortSignal): Promise<number[]>;
  extractText?(
    model: string,
    image: Uint8Array,
    mediaType: string,
    signal: AbortSignal,
    user?: string,
  ): Promise<ChatAnswer>;
  synthesize?(
    model: string,
    input: string,
    voice: string | undefined,
    signal: AbortSignal,
    user?: string,
  ): Promise<{ audio: Uint8Array; mediaType: string }>;
  transcribe?(model: string, audio: Uint8Array, mediaType: string, signal: AbortSignal, user?: string): Promise<string>;
}

/** A provider's error in our own words: its own message may contain the prompt or the key. */
export function providerFailed(what: string, cause?: unknown): SvcError {
  if (cause instanceof SvcError) return cause;
  const name = cause instanceof Error ? cause.name : "";
  return new SvcError("PROVIDER_FAILED", undefined, {
    hint: `${what}.`,
    cause: new Error(`AI provider: ${what}${name && name !== "Error" ? ` (${name})` : ""}`),
  });
}
