import { type Middleware, v } from "@svc/core";
import { and, eq } from "drizzle-orm";
import { z } from "zod";
import { createCrud, httpRoute, procedure } from "./runtime.ts";
import { articles, guestbook, tasks } from "./schema.ts";

export const tasksCrud = createCrud(tasks, {
  searchFields: ["title"],
  allowedFilters: ["done", "priority", "title"],
  hooks: { beforeCreate: (data) => ({ ...data, title: data.title.trim() }) },
});
export const articlesCrud = createCrud(articles);
export const guestbookCrud = createCrud(guestbook, { allowAnonymous: true });

const timed: Middleware = async ({ context, next }) => {
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
  .handler(async ({ input }) => ({ id: input.id, size: input.file.size }));

export const remind = procedure.internal
  .name("tasks.remind")
  .input(v.object({ id: v.number() }))
  .handler(async ({ input }) => input.id);

export const hello = httpRoute.get
  .path("/api/hello/:name")
  .allowAnonymous()
  .output(z.object({ hello: z.string() }))
  .handler(({ request }) => ({ body: { hello: request.params.name } }));
