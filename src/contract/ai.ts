/** The AI module as handlers see it. `src/ai/create-ai.ts` implements it. */

export type ContentPart = { type: "text"; text: string } | { type: "image"; image: Uint8Array; mediaType: string };

export interface Message {
  role: "user" | "assistant";
  content: string | ContentPart[];
}

export interface CallOptions {
  /** (Default: that of svc.config.ts) */
  model?: string;
  /** Ends the call. */
  signal?: AbortSignal;
}

export interface ChatOptions extends CallOptions {
  /** What the model is told about its role. */
  system?: string;
  /** The conversation so far; the last message is the user's. Content is text, or parts of text and images. */
  messages: { role: "user" | "assistant"; content: string | ContentPart[] }[];
  /** The most that it may answer, in tokens, up to a million. (Default: 1024) */
  maxTokens?: number;
  /** 0 to 2. (Default: the provider's) */
  temperature?: number;
}

/** Tokens, as providers count them. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
}
