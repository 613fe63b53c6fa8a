/** Procedures that call `ctx.rag` and `ctx.grounding`, and a small document to ask about. */
import { createSvcHttpRouteBuilders, createSvcProcedureBuilders, type WrittenSentence } from "@svc/core";
import { v } from "../../src/kit/v.ts";
import { apiWith } from "../support/service.ts";

const procedure = createSvcProcedureBuilders();
const input = v.any();

export const procedures = {
  ingest: procedure.mutation
    .name("docs.ingest")
    .allowAnonymous()
    .input(input)
    .handler(({ context, input }) => context.rag.ingest(input)),
  ingestWithVectors: procedure.mutation
    .name("docs.ingestWithVectors")
    .input(v.object({ document: input, vectors: input }))
    .handler(({ context, input }) => context.rag.ingest({ ...input.document, embed: async () => input.vectors })),
  search: procedure.query
    .name("docs.search")
    .allowAnonymous()
    .input(input)
    .handler(({ context, input }) => context.rag.search(input)),
  ingestInQuery: procedure.query
    .name("docs.ingestInQuery")
    .input(input)
    .handler(({ context, input }) => context.rag.ingest(input)),
  remove: procedure.mutation
    .name("docs.remove")
    .allowAnonymous()
    .input(input)
    .handler(async ({ context, input }) => {
      await context.rag.remove(input);
      return true;
    }),
  list: procedure.query
    .name("docs.list")
    .allowAnonymous()
    .input(input)
    .handler(({ context, input }) => context.rag.list(input)),
  section: procedure.query
    .name("docs.section")
    .allowAnonymous()
    .input(input)
    .handler(({ context, input }) => context.rag.section(input)),
  answer: procedure.query
    .name("docs.answer")
    .allowAnonymous()
    .input(input)
    .handler(async ({ context, input }) => context.grounding?.answer(input)),
  ingestAndAnswer: procedure.mutation
    .name("docs.ingestAndAnswer")
    .input(v.object({ document: input, question: input }))
    .handler(async ({ context, input }) => {
      await context.rag.ingest(input.document);
      return context.grounding?.answer(input.question);
    }),
};

async function* lines(sentences: AsyncIterable<WrittenSentence>) {
  for await (const sentence of sentences) yield `${JSON.stringify(sentence)}\n`;
}

/** Sends sentence by sentence, after the handler has returned. */
const stream = createSvcHttpRouteBuilders()
  .post.path("/docs/stream")
  .allowAnonymous()
  .input(input)
  .handler(async ({ context, input, request }) => {
    const sentences = await context.grounding?.stream({ ...input, write: { signal: request.signal } });
    return { body: sentences && lines(sentences) };
  });

export const api = apiWith({ procedures, httpRoutes: { stream } });

export const handbook = `The handbook of the harbour.

# Opening hours

The office opens at 8:00 and closes at 17:00. It is closed on Sundays.

# Fees

Every boat pays a mooring fee of 12 euros per night. Children under 6 years stay free of charge.

## Discounts

Members of the sailing club pay no mooring fee in winter. The discount increases the number of winter guests.

# Safety

Diesel must not be stored in the boat house. The crane lifts boats of at most 8 tonnes.
`;
