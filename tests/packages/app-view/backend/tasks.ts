// backend/tasks.ts
import { type Middleware, v } from "@svc/core";
import { and, eq } from "drizzle-orm";
import { z } from "zod";
import { createCrud, httpRoute, procedure } from "./runtime.ts";
import { articles, guestbook, tasks } from "./schema.ts";

export const tasksCrud = createCrud(tasks, {
  searchFields: ["title"],
  allowedFilters: ["done", "priority", "title"],
  hooks: { beforeCreate: (data) => ({ ...data, title: data.title.trim() }) },
}); // { list, get, create, update, remove }

export const articlesCrud = createCrud(articles);
export const guestbookCrud = createCrud(guestbook, { allowAnonymous: true });

export const findArticles = procedure.query
  .name("articles.find")
  .input(v.object({ words: v.string() }))
  .handler(async ({ context: ctx, input }) => {
    const scope = { corpus: "default", visibility: "private" } as const;
    const [byTable, byName] = await Promise.all([
      ctx.search(articles, input.words, { fields: ["title", "body"], scope, limit: 5 }),
      ctx.search("articles", input.words, { scope }),
    ]);
    return [byTable.items.length, byName.items.length];
  });

export const expense = procedure.mutation
  .name("tasks.expense")
  .handler(async ({ context: ctx }) => ctx.workflows.start("expense.approve", { amount: 7 }));

const timed: Middleware = async ({ context, next }) => {
  // onion; may pass next({ context, input })
  const started = performance.now();
  const result = await next();
  context.log.info({ ms: performance.now() - started }, "timed");
  return result;
};

export const openCount = procedure.query
  .name("tasks.openCount")
  .use(timed)
  .input(v.object({ minPriority: v.optional(v.number()) }))
  .output(z.object({ open: z.number() }))
  .handler(async ({ context: ctx, input }) => {
    const rows = await ctx.db
      .select()
      .from(tasks)
      .where(and(eq(tasks.done, false)));
    return { open: rows.filter((r) => r.priority >= (input.minPriority ?? 0)).length };
  });

export const attach = procedure.mutation
  .name("tasks.attach")
  .input(v.object({ id: v.number(), file: v.file() }))
  .handler(async ({ context: ctx, input }) => {
    const storageId = await ctx.storage.store(input.file);
    await ctx.scheduler.runAfter(60_000, "tasks.remind", { id: input.id }); // commits with the mutation
    ctx.realtime.invalidate("tasks.list"); // so does this
    return { storageId };
  });

export const remind = procedure.internal
  .name("tasks.remind")
  .input(v.object({ id: v.number() }))
  .handler(async ({ context: ctx, input }) => {
    ctx.log.info({ user: ctx.auth.requireAuth().user.id, ...input }, "reminded"); // runs as the user who scheduled it
  });

export const digest = procedure.internal
  .name("tasks.digest")
  .runAs("system")
  .handler(async ({ context: ctx }) => {
    ctx.log.info({ session: ctx.auth.getSession() }, "digested"); // a cron has no user and no arguments
  });

export const hello = httpRoute.get
  .path("/api/hello/:name")
  .allowAnonymous()
  .output(z.object({ hello: z.string() }))
  .handler(({ request }) => ({ body: { hello: request.params.name } }));
