/** Procedures that call the AI module, and a route that streams. */
import { createAi, createSvcHttpRouteBuilders, createSvcProcedureBuilders, v } from "../../src/index.ts";
import { fileProcedures } from "../support/files.ts";

export const ai = createAi();
const procedure = createSvcProcedureBuilders();
const httpRoute = createSvcHttpRouteBuilders();
const ask = v.object({ text: v.string() });
export const messages = (text: string) => [{ role: "user" as const, content: text }];

export const procedures = {
  ...fileProcedures,
  chat: procedure.query
    .name("ai.chat")
    .input(ask)
    .handler(({ input }) => ai.chat({ system: "Be brief.", messages: messages(input.text) })),
  badChat: procedure.query.name("ai.badChat").handler(() => ai.chat({ messages: [] })),
  any: procedure.query
    .name("ai.any")
    .input(v.object({ call: v.string(), options: v.any() }))
    .handler(async ({ input: { call, options } }) => {
      if (call === "stream") for await (const _ of ai.stream({ messages: messages("x"), ...options })) return "a piece";
      if (call === "chat") return ai.chat({ messages: messages("x"), ...options });
      if (call === "rerank") return ai.rerank({ query: "long", documents: ["a", "long"], ...options });
      return ai.vision.extractText({
        image: Buffer.from("x"),
        mediaType: "image/png",
        model: "gpt-vision",
        ...options,
      });
    }),
  collect: procedure.query
    .name("ai.collect")
    .input(ask)
    .handler(async ({ input }) => {
      const parts: string[] = [];
      for await (const part of ai.stream({ messages: messages(input.text) })) parts.push(part);
      return parts;
    }),
  embed: procedure.query
    .name("ai.embed")
    .input(ask)
    .handler(({ input }) => ai.embed(input.text, { model: "remote-embed" })),
  embedMany: procedure.query
    .name("ai.embedMany")
    .input(v.object({ texts: v.any() }))
    .handler(({ input }) => ai.embedMany(input.texts, { model: "remote-embed" })),
  embedHere: procedure.query
    .name("ai.embedHere")
    .input(ask)
    .handler(({ input }) => ai.embed(input.text)),
  rerank: procedure.query
    .name("ai.rerank")
    .input(v.object({ model: v.optional(v.string()) }))
    .handler(({ input }) =>
      ai.rerank({
        query: "long",
        documents: ["a", "a long one", "long"],
        topK: 2,
        ...(input.model && { model: input.model }),
      }),
    ),
  extract: procedure.query
    .name("ai.extract")
    .handler(() =>
      ai.vision.extractText({ image: Buffer.from("an image"), mediaType: "image/png", model: "gpt-vision" }),
    ),
  speak: procedure.mutation
    .name("ai.speak")
    .input(ask)
    .handler(({ input }) => ai.speech.synthesize({ input: input.text, model: "tts", voice: "nova" })),
  transcribe: procedure.mutation
    .name("ai.transcribe")
    .input(v.object({ storageId: v.string() }))
    .handler(({ input }) => ai.speech.transcribe({ storageId: input.storageId, model: "whisper" })),
  transcription: procedure.query
    .name("ai.transcription")
    .input(v.object({ id: v.string() }))
    .handler(({ input }) => ai.speech.transcription(input.id)),
};
export const streamed = httpRoute.get.path("/api/streamed").handler(() => ({
  body: ai.stream({ messages: messages("hello") }),
}));
