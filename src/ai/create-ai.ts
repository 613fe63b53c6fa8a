/**
 * The `ai` module of an application; the generated `backend/generated/ai.ts` calls this. Each operation reserves its
 * credits, calls the provider of its model, and settles.
 * Next hop: `paid.ts` for the credits, `provider.ts` for the providers, `stream.ts`, and `speech.ts` for operations on files.
 */
import { z } from "zod";
import type { CallOptions, ChatOptions, ContentPart, Message } from "../contract/ai.ts";
import { checkCallOptions, integer, must, number, type ShapeOf } from "../kit/options.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { StoredFile } from "../storage/read-file.ts";
import { type AiCall, able, currentAiCall } from "./call.ts";
import { imageTypeOf } from "./image-type.ts";
import { type Billing, modelOf, paid, signalFor, tokensOf, tokensOfMessages, totalled } from "./paid.ts";
import { type ChatAnswer, type Incomplete, mostTexts, providerFailed, type TokenCount } from "./provider.ts";
import { type Speech, speech } from "./speech.ts";
import { type AiStream, streamed } from "./stream.ts";

/** A text of a model. */
interface Answer extends Billing {
  text: string;
  /** Set if the text is not complete: it reached `maxTokens`, or the provider's filter ended it. */
  incomplete?: Incomplete;
}

/** The image itself, or its storage id. */
type ImageSource =
  | { image: Uint8Array | ArrayBuffer | Blob; mediaType: string; storageId?: undefined }
  | { storageId: string; image?: undefined; mediaType?: undefined };

export interface Ai {
  /** Answers a conversation. @throws SvcError CREDIT_LIMIT_EXCEEDED, AI_NOT_CONFIGURED, PROVIDER_FAILED, as all do */
  chat(options: ChatOptions): Promise<Answer>;
  /** The same, in pieces. Ending the iteration early ends the call. At its end `billing` resolves. */
  stream(options: ChatOptions): AiStream;
  /** The embedding of a text; its length depends on the model. */
  embed(text: string, options?: CallOptions): Promise<number[]>;
  /** The embeddings of up to 1,000 texts, in their order: one request to the provider, and one reservation of credits. */
  embedMany(texts: string[], options?: CallOptions): Promise<number[][]>;
  /** Orders documents by how well they answer a query, best first. @param options `topK` (Default: all of them) */
  rerank(
    options: { query: string; documents: string[]; topK?: number } & CallOptions,
  ): Promise<{ index: number; document: string; score: number }[]>;
  vision: {
    /**
     * Reads the text in an image: bytes with their media type, or a stored file that the caller may read. `markdown` is
     * set if the model writes it; its HTML becomes text, and only harmless links stay.
     */
    extractText(options: ImageSource & CallOptions): Promise<Answer & { markdown?: string }>;
  };
  speech: Speech;
}

/** @example export const ai = createAi(); */
export function createAi(): Ai {
  return {
    async chat({ model: given, maxTokens = 1024, signal, ...options }) {
      const call = currentAiCall();
      const model = modelOf(given, call.services.config.chatModel);
      const chat = able(call, model, "chat");
      const messages = checkMessages(options.messages);
      checkCallOptions("ai.chat", chatOptions, { ...options, maxTokens });
      const estimate = { inputTokens: tokensOfMessages(options.system, messages), outputTokens: maxTokens };
      return paid(call, { operation: "chat", model, estimate }, async (reservation, over) => {
        const answer = await chat({ ...options, messages, model, maxTokens, signal: signalFor(call, signal, over) });
        const usage = usedBy(answer, estimate);
        return { ...told(answer), ...totalled(usage), creditsCharged: await reservation.settle(usage), model };
      });
    },

    stream({ model: given, maxTokens = 1024, signal, ...options }) {
      const call = currentAiCall(); // now: the handler may have returned when the stream is read
      const model = modelOf(given, call.services.config.chatModel);
      const stream = able(call, model, "stream");
      const messages = checkMessages(options.messages);
      checkCallOptions("ai.stream", chatOptions, { ...options, maxTokens });
      const estimate = { inputTokens: tokensOfMessages(options.system, messages), outputTokens: maxTokens };
      return streamed(call, { operation: "stream", model, estimate }, (left) =>
        stream({
          ...options,
          messages,
          model,
          maxTokens,
          signal: AbortSignal.any([left, signalFor(call, signal, left)]),
        }),
      );
    },

    async embed(text, options) {
      if (!isText(text)) throw invalidInput("ai.embed takes a text that is not empty.");
      const [embedding = []] = await embedTexts([text], options);
      return embedding;
    },

    async embedMany(texts, options) {
      if (!Array.isArray(texts) || texts.length > mostTexts || texts.some((text) => !isText(text)))
        throw invalidInput(`ai.embedMany takes a list of at most ${mostTexts} texts, none of them empty.`);
      return texts.length === 0 ? [] : embedTexts(texts, options);
    },

    async rerank({ query, documents, topK, model: given, signal }) {
      const call = currentAiCall();
      if (!Array.isArray(documents) || documents.some((document) => typeof document !== "string")) {
        throw invalidInput("ai.rerank takes documents as a list of texts.");
      }
      if (typeof query !== "string" || query.trim() === "")
        throw invalidInput("ai.rerank takes a query that is not empty.");
      if (topK !== undefined && !(Number.isInteger(topK) && topK >= 1)) {
        throw invalidInput("topK must be a whole number from 1.");
      }
      if (documents.length === 0) return [];
      const model = modelOf(given, call.services.config.rerankModel);
      const rerank = able(call, model, "rerank");
      const usage = { inputTokens: tokensOf(query + documents.join("")), outputTokens: 0 };
      return paid(call, { operation: "rerank", model, estimate: usage }, async (reservation, over) => {
        const scores = await rerank(model, query, documents, signalFor(call, signal, over));
        await reservation.settle(usage);
        return documents
          .map((document, index) => ({ index, document, score: scores[index] as number }))
          .sort((a, b) => b.score - a.score)
          .slice(0, topK ?? documents.length);
      });
    },

    vision: {
      async extractText({ model: given, signal, ...source }) {
        const call = currentAiCall();
        const model = modelOf(given, call.services.config.visionModel);
        const extract = able(call, model, "extractText");
        const { bytes, type: mediaType } = await imageOf(call, source);
        if (!/^image\/[a-z0-9.+-]+$/i.test(String(mediaType))) throw notAnImage(source.storageId !== undefined);
        const estimate = { inputTokens: 2000, outputTokens: 4096 };
        return paid(call, { operation: "vision.extractText", model, estimate }, async (reservation, over) => {
          const user = call.userId ?? "";
          const answer = await extract(model, bytes, mediaType, signalFor(call, signal, over), user);
          const usage = usedBy(answer, estimate);
          const creditsCharged = await reservation.settle(usage);
          const markdown = model.startsWith("local-") ? {} : { markdown: await harmless(answer.text, user) };
          return { ...told(answer), ...markdown, ...totalled(usage), creditsCharged, model };
        });
      },
    },

    speech,
  };
}

const isText = (text: unknown) => typeof text === "string" && text.trim() !== "";

async function embedTexts(texts: string[], { model: given, signal }: CallOptions = {}): Promise<number[][]> {
  const call = currentAiCall();
  const model = modelOf(given, call.services.config.embeddingModel);
  const embed = able(call, model, "embed");
  const estimate = { inputTokens: texts.reduce((sum, text) => sum + tokensOf(text), 0), outputTokens: 0 };
  return paid(call, { operation: "embed", model, estimate }, async (reservation, over) => {
    const { embeddings, usage } = await embed(model, texts, signalFor(call, signal, over));
    const { embeddingDimensions: wanted } = call.services.config;
    const misfit = embeddings.find((one) => one.length !== wanted || !one.every(Number.isFinite));
    if (misfit) {
      throw providerFailed(`its embedding has ${misfit.length} dimensions, ai.embeddingDimensions says ${wanted}`);
    }
    await reservation.settle({ ...estimate, ...usage });
    return embeddings;
  });
}

/** The usage of an answer: as the provider reports it; counts that it does not report are estimated by the texts. */
const usedBy = ({ text, usage }: ChatAnswer, { inputTokens }: TokenCount): TokenCount => ({
  inputTokens,
  outputTokens: tokensOf(text),
  ...usage,
});

const told = ({ text, incomplete }: ChatAnswer) => ({ text, ...(incomplete && { incomplete }) });

/** Text in an image may attack the browser that shows it. */
const harmless = async (markdown: string, user: string) =>
  (await import("../text/worker-thread.ts")).runInThread("neutralise", [markdown], { user });

function checkMessages(messages: unknown): Message[] {
  const isPart = (part: ContentPart) =>
    (part?.type === "text" && typeof part.text === "string") ||
    (part?.type === "image" && part.image instanceof Uint8Array && typeof part.mediaType === "string");
  const isMessage = ({ role, content }: Message) =>
    (role === "user" || role === "assistant") &&
    (typeof content === "string" || (Array.isArray(content) && content.every(isPart)));
  if (Array.isArray(messages) && messages.length > 0 && messages.every((one) => isMessage(Object(one))))
    return messages;
  throw invalidInput('messages must be a list of { role: "user" | "assistant", content }, with at least one of them.');
}

/** The options may come from the caller. A negative `maxTokens` would reserve less than nothing. */
const chatOptions = z.object({
  system: z.string(must("a text")).optional(),
  maxTokens: integer(1, 1_000_000),
  temperature: number(0, 2).optional(),
} satisfies Partial<ShapeOf<ChatOptions>>);

async function imageOf(call: AiCall, { storageId, image, mediaType }: ImageSource): Promise<StoredFile> {
  if (storageId === undefined) return { bytes: await bytesOf(image), type: mediaType };
  if (image === undefined) {
    const { bytes, type } = await call.readFile(storageId);
    // A browser takes the type of a file from its extension.
    return { bytes, type: imageTypeOf(bytes) ?? type };
  }
  throw invalidInput("Give image with mediaType, or storageId.");
}

async function bytesOf(image: unknown): Promise<Uint8Array> {
  if (image instanceof Uint8Array) return image;
  if (image instanceof ArrayBuffer) return new Uint8Array(image);
  if (image instanceof Blob) return new Uint8Array(await image.arrayBuffer());
  throw invalidInput("image must be a Uint8Array, an ArrayBuffer or a Blob; of a stored file, give storageId instead.");
}

const notAnImage = (isStored: boolean) =>
  isStored
    ? new SvcError("BAD_REQUEST", "The stored file is not an image.", {
        hint: "Documents are converted: wf.services.document.convert, or ctx.rag.ingestFile.",
      })
    : invalidInput('mediaType must be one such as "image/png".');

const invalidInput = (message: string) => new SvcError("BAD_REQUEST", message);
