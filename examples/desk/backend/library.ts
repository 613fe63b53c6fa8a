/**
 * A person's own documents: dropped as PDF, HWP, DOCX and the like, converted and cut by a workflow, asked about by
 * themselves alone.
 * Next hop: `docs.ts` does the same with svc's documentation.
 */
import { v } from "@svc/core";
import { askIn } from "./ask.ts";
import { procedure } from "./runtime.ts";

const scope = { corpus: "library", visibility: "private" } as const;

/** Stores a file and begins to read it. The run's progress: `api.workflows.get`. */
export const add = procedure.mutation
  .name("library.add")
  .input(v.object({ file: v.file() }))
  .handler(async ({ context: ctx, input }) => {
    const storageId = await ctx.storage.store(input.file);
    return ctx.rag.ingestFile({ storageId, scope });
  });

export const list = procedure.query
  .name("library.list")
  .handler(({ context: ctx }) => ctx.rag.list({ scope, limit: 100 }));

/** Removes a document and the file it came from. */
export const remove = procedure.mutation
  .name("library.remove")
  .input(v.object({ id: v.string() }))
  .handler(async ({ context: ctx, input }) => {
    const source = (await ctx.rag.list({ scope, limit: 100 })).find(({ id }) => id === input.id);
    await ctx.rag.remove(input.id);
    if (source?.storageId) await ctx.storage.delete(source.storageId).catch(() => {});
    ctx.realtime.invalidate("library.list");
  });

/** An address under which its owner opens the file for five minutes. */
export const open = procedure.mutation
  .name("library.open")
  .input(v.object({ storageId: v.string() }))
  .handler(({ context: ctx, input }) => ctx.storage.createReadGrant(input.storageId));

/** As `docs.ask`, in one's own documents. */
export const ask = procedure.query
  .name("library.ask")
  .input(v.object({ text: v.string() }))
  .handler(({ context: ctx, input }) => askIn(ctx, scope, input.text));
