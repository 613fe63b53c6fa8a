/** Tasks: generated CRUD, operations that it does not cover, and what happens to tasks later. */
import { cron, v } from "@svc/core";
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

/** Brings a task back to its owner's mind after a while. Answers with the job's id, and with null for no such task. */
export const remind = procedure.mutation
  .name("tasks.remind")
  .input(v.object({ id: v.number(), minutes: v.number() }))
  .output(z.object({ job: z.string().nullable() }))
  .handler(async ({ context: ctx, input }) => {
    const [task] = await ctx.db.select({ id: tasks.id }).from(tasks).where(eq(tasks.id, input.id));
    if (!task) return { job: null };
    return { job: await ctx.scheduler.runAfter(input.minutes * 60_000, nag, { id: task.id }) };
  });

/** Runs as the user who scheduled it: the policies apply, and every window of this user shows the change. */
export const nag = procedure.internal
  .name("tasks.nag")
  .input(v.object({ id: v.number() }))
  .handler(async ({ context: ctx, input }) => {
    const open = and(eq(tasks.id, input.id), eq(tasks.done, false));
    const [task] = await ctx.db.select({ priority: tasks.priority }).from(tasks).where(open);
    if (!task) return;
    await ctx.db
      .update(tasks)
      .set({ priority: task.priority + 1, updatedAt: new Date() })
      .where(open);
  });

/** Everybody's open tasks, counted by the system at night. A real desk would send the mails here. */
export const digest = procedure.internal
  .name("tasks.digest")
  .runAs("system")
  .handler(async ({ context: ctx }) => {
    const open = await ctx.db
      .select({ userId: tasks.userId, open: count() })
      .from(tasks)
      .where(eq(tasks.done, false))
      .groupBy(tasks.userId);
    for (const person of open) ctx.log.info(person, "open tasks");
  });

export const nightly = cron.name("tasks.nightly").daily({ hour: 3 }).handler(digest);
