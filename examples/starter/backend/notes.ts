/** Notes: list, get, create, update and remove come generated; the rest is written by hand. */
import { cron } from "@svc/core";
import { and, eq, lt } from "drizzle-orm";
import { createCrud, procedure } from "./runtime.ts";
import { notes } from "./schema.ts";

export const notesCrud = createCrud(notes, { searchFields: ["text"], allowedFilters: ["done"] });

/** Deletes what is done. Row-level security sees to it that these are the caller's own notes. */
export const clearDone = procedure.mutation.name("notes.clearDone").handler(async ({ context }) => {
  const gone = await context.db.delete(notes).where(eq(notes.done, true)).returning({ id: notes.id });
  return { removed: gone.length };
});

/** In milliseconds: for how long notes that are done are kept. */
const keptFor = 30 * 24 * 60 * 60 * 1000;

/** Deletes everybody's notes that were done a month ago: a cron runs as the system. */
export const tidy = procedure.internal
  .name("notes.tidy")
  .runAs("system")
  .handler(async ({ context }) => {
    const longAgo = new Date(Date.now() - keptFor);
    await context.db.delete(notes).where(and(eq(notes.done, true), lt(notes.updatedAt, longAgo)));
  });

export const nightly = cron.name("notes.nightly").daily({ hour: 3 }).handler(tidy);
