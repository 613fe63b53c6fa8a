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
  /** The system prompt: the model's role and rules. */
  system?: string;
  /** The conversation so far; the last message is the user's. Content is text, or parts of text and images. */
  messages: { role: "user" | "assistant"; content: string | ContentPart[] }[];
  /** The longest answer in tokens, up to 1,000,000. (Default: 1024) */
  maxTokens?: number;
  /** 0 to 2. (Default: the provider's) */
  temperature?: number;
}

/** Token counts as the provider reports them. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
}
