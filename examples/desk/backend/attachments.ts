/**
 * Files of tasks. The page uploads a file first, in parts, and then says which task it is for; thumbnails are made when
 * they are looked at.
 * Next hop: `../web/tasks/attachments.tsx`.
 */
import { SvcError, v } from "@svc/core";
import { asc, eq } from "drizzle-orm";
import { procedure } from "./runtime.ts";
import { attachments, tasks } from "./schema.ts";

/** Attaches an uploaded file of the caller's to a task of the caller's. */
export const add = procedure.mutation
  .name("attachments.add")
  .input(v.object({ taskId: v.number(), id: v.string() }))
  .handler(async ({ context: ctx, input }) => {
    const [task] = await ctx.db.select({ id: tasks.id }).from(tasks).where(eq(tasks.id, input.taskId));
    if (!task) throw new SvcError("NOT_FOUND", "There is no such task.");
    await ctx.storage.requireOwned(input.id); // refuses files of others, public ones too
    const userId = ctx.auth.requireAuth().user.id;
    await ctx.db.insert(attachments).values({ id: input.id, taskId: task.id, userId }).onConflictDoNothing();
    ctx.realtime.invalidate("attachments.list");
  });

/** A task's files, each with the addresses that open and show it for an hour. */
export const list = procedure.query
  .name("attachments.list")
  .input(v.object({ taskId: v.number() }))
  .handler(async ({ context: ctx, input }) => {
    const ofTask = eq(attachments.taskId, input.taskId);
    const rows = await ctx.db.select().from(attachments).where(ofTask).orderBy(asc(attachments.createdAt));
    const shown: { id: string; name: string; size: number; url: string; thumbnail: string | null }[] = [];
    for (const { id } of rows) {
      const { name, size, type } = await ctx.storage.getMeta(id);
      const { url } = await ctx.storage.createReadGrant(id, { ttlSeconds: 3600 });
      const isPicture = /^image\/(jpeg|png|webp|gif|avif)$/.test(type);
      shown.push({ id, name, size, url, thumbnail: isPicture ? `${url}&w=128&h=128&f=webp` : null });
    }
    return shown;
  });

/** Removes a file from its task, and its bytes. */
export const remove = procedure.mutation
  .name("attachments.remove")
  .input(v.object({ id: v.string() }))
  .handler(async ({ context: ctx, input }) => {
    const [row] = await ctx.db.select().from(attachments).where(eq(attachments.id, input.id));
    if (!row) throw new SvcError("NOT_FOUND", "There is no such file.");
    await ctx.storage.delete(row.id); // and this row with it
    ctx.realtime.invalidate("attachments.list");
  });
