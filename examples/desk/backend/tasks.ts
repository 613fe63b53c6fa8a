/** Tasks: generated CRUD, and two operations that it does not cover. */
import { v } from "@svc/core";
import { and, count, eq, gte } from "drizzle-orm";
import { z } from "zod";
import { createCrud, procedure } from "./runtime.ts";
import { tasks } from "./schema.ts";

export const tasksCrud = createCrud(tasks, {
  searchFields: ["title"],
  allowedFilters: ["done", "priority", "title"],
  hooks: { beforeCreate: (data) => ({ ...data, title: data.title.trim() }) },
});

/** How many of the caller's tasks are open. */
export const openCount = procedure.query
  .name("tasks.openCount")
  .input(v.object({ minPriority: v.optional(v.number()) }))
  .output(z.object({ open: z.number() }))
  .handler(async ({ context: ctx, input }) => {
    const wanted = and(eq(tasks.done, false), gte(tasks.priority, input.minPriority ?? 0));
    const [row] = await ctx.db.select({ open: count() }).from(tasks).where(wanted);
    return { open: row?.open ?? 0 };
  });

/** Ticks off everything at once: all or, when something fails, nothing. */
export const finishAll = procedure.mutation
  .name("tasks.finishAll")
  .output(z.object({ finished: z.number() }))
  .handler(async ({ context: ctx }) => {
    const rows = await ctx.db
      .update(tasks)
      .set({ done: true, updatedAt: new Date() })
      .where(eq(tasks.done, false))
      .returning({ id: tasks.id });
    return { finished: rows.length };
  });
