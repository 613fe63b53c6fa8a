/**
 * svc's own documentation, stored in parts that can be cited: what somebody states is looked up in it.
 * Next hop: `ctx.rag` and `ctx.grounding` of @svc/core.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { v } from "@svc/core";
import { procedure } from "./runtime.ts";

const scope = { corpus: "svc-docs", visibility: "public" } as const;
const folder = join(import.meta.dirname, "../../../docs");

/** Stores the documentation when it is not there yet. It belongs to whoever comes first, and anyone reads it. */
export const prepare = procedure.mutation
  .name("docs.prepare")
  .output(v.object({ documents: v.number() }))
  .handler(async ({ context: ctx }) => {
    const stored = await ctx.rag.list({ scope, limit: 1 });
    if (stored.length > 0) return { documents: 0 };
    const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".md")).sort();
    for (const name of files) {
      const markdown = await readFile(join(folder, name), "utf8");
      const title = /^# (.+)$/m.exec(markdown)?.[1] ?? name;
      await ctx.rag.ingest({ title, markdown, scope, sourceUri: `docs/${name}` });
    }
    return { documents: files.length };
  });

/** Whether the documentation says what somebody states, and where. */
export const check = procedure.query
  .name("docs.check")
  .allowAnonymous()
  .input(v.object({ statement: v.string() }))
  .handler(async ({ context: ctx, input }) => {
    const claims = [{ claimText: input.statement }];
    const answer = await ctx.grounding?.answer({ question: input.statement, scope, claims, mode: "qa" });
    return answer?.claims[0] ?? null;
  });

/** The section that a citation names. */
export const section = procedure.query
  .name("docs.section")
  .allowAnonymous()
  .input(v.object({ id: v.string() }))
  .handler(({ context: ctx, input }) => ctx.rag.section(input.id));
