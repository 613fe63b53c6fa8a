/**
 * A PDF of some hundred pages: stored, converted and cut by a workflow that survives any kill, then asked by anyone.
 * Next hop: `ask.ts`.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { v, workflow } from "@svc/core";
import { askIn } from "./ask.ts";
import { procedure } from "./runtime.ts";

const scope = { corpus: "handbook", visibility: "public" } as const;
/** `../set-handbook.ts` writes it, before `npm start` and `npm run dev`. */
const pdf = join(import.meta.dirname, "../.svc/handbook.pdf");
const title = "The svc handbook";

/** The file, once it has been read; null before. */
export const contents = procedure.query
  .name("handbook.contents")
  .allowAnonymous()
  .handler(async ({ context: ctx }) => (await ctx.rag.list({ scope, limit: 1 }))[0] ?? null);

/** Each step is kept when it is done: after a kill, another process continues with the next. */
export const read = workflow("handbook.read", {
  args: {},
  handler: async (wf) => {
    const storageId = await wf.step("store the file", async () => {
      const file = new File([await readFile(pdf)], `${title}.pdf`, { type: "application/pdf" });
      return wf.storage.store(file, { visibility: "public" });
    });
    const { pages } = await wf.services.document.convert({ storageId });
    await wf.step("store its passages", () =>
      wf.rag.ingest({ title, scope, storageId, pages: pages.map(({ markdown }) => markdown) }),
    );
  },
});

/** Has the PDF read, the first time somebody comes. */
export const prepare = procedure.mutation
  .name("handbook.prepare")
  .allowAnonymous()
  .handler(async ({ context: ctx }) => {
    await ctx.scheduler.runAfter(0, "handbook.begin");
  });

/** It belongs to nobody, and anyone reads it. */
export const begin = procedure.internal
  .name("handbook.begin")
  .runAs("system")
  .handler(async ({ context: ctx }) => {
    await ctx.workflows.start(read, {}, { idempotencyKey: title });
  });

/** Passages of the PDF with their pages, and whether it says what somebody states. */
export const ask = procedure.query
  .name("handbook.ask")
  .allowAnonymous()
  .input(v.object({ text: v.string() }))
  .handler(({ context: ctx, input }) => askIn(ctx, scope, input.text));
