/**
 * svc's own documentation, stored in parts that can be cited: what somebody asks or states is looked up in it.
 * Next hop: `ctx.rag` and `ctx.grounding` of @svc/core; `library.ts` does the same with people's own documents.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { cron, v } from "@svc/core";
import { askIn } from "./ask.ts";
import { byHeadings, isAbout, searchedWords } from "./questions.ts";
import { procedure } from "./runtime.ts";

const scope = { corpus: "svc-docs", visibility: "public" } as const;
const folder = join(import.meta.dirname, "../../../docs");

/** Not the lists of pages, of decisions and of what is tested where. */
const isForReaders = /^(tutorial|how-to|explanation|reference)\/(?!conformance|advisories).*\.md$/;

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
    const files = (await readdir(folder, { recursive: true })).filter((name) => isForReaders.test(name));
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
  .handler(async ({ context: ctx, input }) => {
    const query = searchedWords(input.text);
    const [{ claim }, found, sources] = await Promise.all([
      askIn(ctx, scope, input.text),
      ctx.rag.search({ query, scope, limit: 20 }),
      ctx.rag.list({ scope, limit: 100 }),
    ]);
    // Pages about the subject are looked through too, however many others name it; and so are the common questions.
    const isNear = ({ title, uri }: { title: string; uri: string | null }) =>
      isAbout(title, input.text) || uri === "docs/how-to/questions.md";
    const sourceIds = sources.filter(isNear).map(({ id }) => id);
    const more = sourceIds.length > 0 ? await ctx.rag.search({ query, scope, sourceIds, limit: 20 }) : [];
    const passages = new Map([...found, ...more].map((passage) => [passage.chunkId, passage]));
    return { claim, passages: byHeadings(input.text, [...passages.values()]).slice(0, 5) };
  });

/** The section that a citation names, of the documentation or of one's own documents. */
export const section = procedure.query
  .name("docs.section")
  .allowAnonymous()
  .input(v.object({ id: v.string() }))
  .handler(({ context: ctx, input }) => ctx.rag.section(input.id));
