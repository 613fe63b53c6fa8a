/**
 * A provider with OpenAI's protocol, which most model servers support. Chat uses the AI SDK. Reranking, speech and transcription,
 * which the SDK lacks for such servers, are plain requests, and so are embeddings, because the SDK ignores their `index`. Source:
 * https://platform.openai.com/docs/api-reference; rerank as in https://docs.cohere.com/reference/rerank.
 */
import type { OpenAICompatibleProvider } from "@ai-sdk/openai-compatible";
import type { ModelMessage } from "ai";
import { z } from "zod";
import type { EffectiveConfig } from "../config/config.ts";
import type { Message } from "../contract/ai.ts";
import { causesOf } from "../kit/causes.ts";
import { SvcError } from "../kit/svc-error.ts";
import { largestAnswer, mebibyte, patientFetch } from "./patient-fetch.ts";
import {
  type ChatAnswer,
  type ChatRequest,
  type Incomplete,
  type Provider,
  providerFailed,
  type ReportedUsage,
  type TokenCount,
} from "./provider.ts";

// Loaded with the first call, since most processes never make one.
const library = () => {
  // Its warnings would go to the console instead of the log.
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  return import("ai");
};

const extractionPrompt =
  "Write down all text in this image, in reading order, as Markdown. Write nothing else, and nothing that is not in it.";

/** The ledger's columns are integers. */
const mostTokens = 2 ** 31 - 1;

/** In bytes: a number of an embedding as JSON, with its comma and the indentation of some servers. */
const numberAsJson = 32;

/** In bytes: a token of an answer. In a stream each has an object of its own. */
const tokenAsJson = 1024;

/** In bytes: the text of a recording. */
const largestTranscript = 4 * mebibyte;

/** In bytes. An answer of JSON takes several times its size on the heap, so each call accepts only what it can have asked for. */
const answerOfTokens = (tokens: number) => Math.min(mebibyte + tokens * tokenAsJson, largestAnswer);

export function openAiCompatible(config: EffectiveConfig["ai"]): Provider {
  const { baseUrl, apiKey, timeoutMs, embeddingDimensions } = config;
  const base = baseUrl?.replace(/\/+$/, "") ?? "";
  const requireBase = () => {
    if (base !== "") return;
    throw new SvcError("AI_NOT_CONFIGURED", undefined, {
      hint: "Set AI_BASE_URL and AI_API_KEY where svc runs; models called local-… need neither.",
    });
  };
  const models = async (most: number): Promise<OpenAICompatibleProvider> => {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const fetch = patientFetch(timeoutMs, most);
    const key = apiKey !== null && { apiKey };
    return createOpenAICompatible({ name: "svc", baseURL: base, fetch, includeUsage: true, ...key });
  };

  async function post(path: string, body: string | FormData, most: number, signal: AbortSignal): Promise<Response> {
    requireBase();
    const fetch = patientFetch(timeoutMs, most);
    const headers = {
      ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
      ...(typeof body === "string" && { "content-type": "application/json" }),
    };
    const response = await fetch(`${base}${path}`, { method: "POST", headers, body, signal });
    if (response.ok) return response;
    await response.body?.cancel();
    throw providerFailed(`it answered ${response.status} to ${path}`);
  }

  const generate = async ({ model, system, messages, maxTokens, temperature, signal }: ChatRequest) => ({
    model: (await models(answerOfTokens(maxTokens))).chatModel(model),
    ...(system !== undefined && { system }),
    messages: messages.map(toSdk),
    maxOutputTokens: maxTokens,
    ...(temperature !== undefined && { temperature }),
    abortSignal: signal,
    maxRetries: 0, // patientFetch retries already
  });

  const provider: Provider = {
    async chat(request) {
      requireBase();
      return explained(request.signal, async () => {
        const { generateText } = await library();
        const { text, usage, finishReason } = await generateText(await generate(request));
        return { text, ...endOf(usage, finishReason) };
      });
    },

    stream(request) {
      requireBase();
      let failure: unknown;
      const started = (async () => {
        const { streamText } = await library();
        const onError = ({ error }: { error: unknown }) => {
          failure = error;
        };
        return { result: streamText({ ...(await generate(request)), onError }) };
      })();
      async function* text() {
        try {
          const { result } = await started;
          for await (const part of result.textStream) yield part;
          request.signal.throwIfAborted(); // the SDK ends an aborted stream as if it were complete
          if (failure === undefined && (await result.finishReason) === "error") failure = new Error("cut short");
        } catch (error) {
          failure ??= error;
        }
        if (failure !== undefined) throw reason(failure, request.signal);
      }
      const end = started.then(async ({ result }) => endOf(await result.usage, await result.finishReason));
      end.catch(() => {}); // only read after a stream that ended well
      return { text: text(), end };
    },

    async embed(model, values, signal) {
      const body = JSON.stringify({ model, input: values, encoding_format: "float" });
      const most = mebibyte + values.length * embeddingDimensions * numberAsJson;
      const { data, usage } = await read(await post("/embeddings", body, most, signal), embeddingsAnswer, signal);
      // A server may answer in any order, and without `index` in the order of the texts.
      const found = new Map(data.map(({ index, embedding }, at) => [index ?? at, embedding]));
      const embeddings = values.flatMap((_, at) => {
        const embedding = found.get(at);
        return embedding ? [embedding] : [];
      });
      if (data.length !== values.length || embeddings.length !== values.length) {
        throw providerFailed(`it sent ${data.length} embeddings of ${values.length}, or some of them twice`);
      }
      const counted = count({ inputTokens: usage?.prompt_tokens ?? 0 });
      return { embeddings, usage: counted };
    },

    async rerank(model, query, documents, signal) {
      const body = JSON.stringify({ model, query, documents, top_n: documents.length });
      const most = mebibyte + 2 * Buffer.byteLength(body); // some servers repeat the documents
      const { results } = await read(await post("/rerank", body, most, signal), rerankAnswer, signal);
      const scores = new Map(results.map(({ index, relevance_score }) => [index, relevance_score]));
      return documents.map((_, index) => {
        const score = scores.get(index);
        if (score === undefined) throw providerFailed("it did not score every document");
        return score;
      });
    },

    async extractText(model, image, mediaType, signal) {
      const messages: Message[] = [
        {
          role: "user",
          content: [
            { type: "text", text: extractionPrompt },
            { type: "image", image, mediaType },
          ],
        },
      ];
      if (!provider.chat) throw new SvcError("AI_NOT_CONFIGURED");
      return provider.chat({ model, messages, maxTokens: 4096, temperature: 0, signal });
    },

    async synthesize(model, input, voice, signal) {
      const body = JSON.stringify({ model, input, voice: voice ?? "alloy", response_format: "mp3" });
      const response = await post("/audio/speech", body, largestAnswer, signal);
      const mediaType = response.headers.get("content-type")?.split(";", 1)[0] ?? "audio/mpeg";
      const audio = await response.arrayBuffer().catch((cause) => {
        throw signal.aborted ? signal.reason : providerFailed("its answer was cut short", cause);
      });
      if (audio.byteLength === 0 || /json|text/.test(mediaType)) throw providerFailed("it sent no audio");
      return { audio: new Uint8Array(audio), mediaType };
    },

    async transcribe(model, audio, mediaType, signal) {
      const form = new FormData();
      form.append("model", model);
      form.append("file", new File([new Uint8Array(audio)], "audio", { type: mediaType }));
      const response = await post("/audio/transcriptions", form, largestTranscript, signal);
      return (await read(response, z.object({ text: z.string() }), signal)).text;
    },
  };
  return provider;
}

const embeddingsAnswer = z.object({
  data: z.array(z.object({ index: z.int().nonnegative().nullish(), embedding: z.array(z.number()) })),
  usage: z.object({ prompt_tokens: z.number().nullish() }).nullish(),
});

const rerankAnswer = z.object({
  results: z.array(z.object({ index: z.int().nonnegative(), relevance_score: z.number() })),
});

/** @throws SvcError PROVIDER_FAILED; the signal's reason */
async function read<T>(response: Response, shape: z.ZodType<T>, signal: AbortSignal): Promise<T> {
  const answer = await response.json().catch((error) => {
    signal.throwIfAborted();
    if (error instanceof SvcError) throw error;
  });
  const parsed = shape.safeParse(answer);
  if (!parsed.success) throw providerFailed("its answer has an unexpected form");
  return parsed.data;
}

async function explained<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw reason(error, signal);
  }
}

/** Errors of the SDK contain the request with its prompt, so nothing of them is passed on. */
function reason(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const own = causesOf(error).find((one) => one instanceof SvcError);
  if (own) return own;
  const status = (error as { statusCode?: number }).statusCode;
  if (status !== undefined && status >= 400) return providerFailed(`it answered ${status}`);
  return providerFailed("its answer was cut short, or has an unexpected form", error);
}

function toSdk({ role, content }: Message): ModelMessage {
  if (typeof content === "string") return { role, content };
  const parts = content.map((part) =>
    part.type === "text" ? part : { type: "file" as const, data: part.image, mediaType: part.mediaType },
  );
  return { role, content: parts } as ModelMessage;
}

function endOf(usage: Partial<TokenCount>, finishReason: string): Omit<ChatAnswer, "text"> {
  const reasons: Incomplete[] = ["length", "content-filter"];
  const incomplete = reasons.find((one) => one === finishReason);
  return { usage: count(usage), ...(incomplete && { incomplete }) };
}

/**
 * Leaves out counts that are not possible: the SDK passes on any number, and makes 0 of a count that the server omits.
 * They are estimated, so that such a server costs as much as others.
 */
function count({ inputTokens = 0, outputTokens = 0 }: Partial<TokenCount>): ReportedUsage {
  const isCount = (tokens: number) => Number.isInteger(tokens) && tokens > 0 && tokens <= mostTokens;
  return { ...(isCount(inputTokens) && { inputTokens }), ...(isCount(outputTokens) && { outputTokens }) };
}
