/**
 * svc's own documentation, stored in parts that can be cited: what somebody asks or states is looked up in it.
 * Next hop: `ctx.rag` and `ctx.grounding` of @svc/core; `library.ts` does the same with people's own documents.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { cron, v } from "@svc/core";
import { askIn } from "./ask.ts";
import { procedure } from "./runtime.ts";

const scope = { corpus: "svc-docs", visibility: "public" } as const;
const folder = join(import.meta.dirname, "../../../docs");

/** How much of the documentation is stored. */
export const contents = procedure.query
  .name("docs.contents")
  .allowAnonymous()
  .handler(async ({ context: ctx }) => {
    const sources = await ctx.rag.list({ scope, limit: 100 });
    return { documents: sources.length };
  });

/** Has the documentation stored when none of it is: the first who comes sees to it. */
export const prepare = procedure.mutation
  .name("docs.prepare")
  .allowAnonymous()
  .handler(async ({ context: ctx }) => {
    const [stored] = await ctx.rag.list({ scope, limit: 1 });
    if (!stored) await ctx.scheduler.runAfter(0, "docs.refresh");
  });

/** Stores what is new or has changed, and removes what is gone. It belongs to nobody, and anyone reads it. */
export const refresh = procedure.internal
  .name("docs.refresh")
  .runAs("system")
  .handler(async ({ context: ctx }) => {
    const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".md"));
    const addresses = new Set<string | null>();
    for (const name of files) {
      const markdown = await readFile(join(folder, name), "utf8");
      const title = /^# (.+)$/m.exec(markdown)?.[1] ?? name;
      const sourceUri = `docs/${name}`;
      addresses.add(sourceUri);
      await ctx.rag.ingest({ title, markdown, scope, sourceUri });
    }
    for (const { id, uri } of await ctx.rag.list({ scope, limit: 100 }))
      if (!addresses.has(uri)) await ctx.rag.remove(id);
    ctx.realtime.invalidate("docs.contents");
  });

export const hourly = cron.name("docs.hourly").interval({ hours: 1 }).handler(refresh);

/** The passages that share most with what somebody asks, and whether the documentation says what they state. */
export const ask = procedure.query
  .name("docs.ask")
  .allowAnonymous()
  .input(v.object({ text: v.string() }))
  .handler(({ context: ctx, input }) => askIn(ctx, scope, input.text));

/** The section that a citation names, of the documentation or of one's own documents. */
export const section = procedure.query
  .name("docs.section")
  .allowAnonymous()
  .input(v.object({ id: v.string() }))
  .handler(({ context: ctx, input }) => ctx.rag.section(input.id));
