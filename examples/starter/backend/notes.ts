/** Notes: list, get, create, update and remove come generated; the rest is written by hand. */
import { eq } from "drizzle-orm";
import { createCrud, procedure } from "./runtime.ts";
import { notes } from "./schema.ts";

export const notesCrud = createCrud(notes, { searchFields: ["text"], allowedFilters: ["done"] });

/** Deletes what is done. Row-level security sees to it that these are the caller's own notes. */
export const clearDone = procedure.mutation.name("notes.clearDone").handler(async ({ context }) => {
  const gone = await context.db.delete(notes).where(eq(notes.done, true)).returning({ id: notes.id });
  return { removed: gone.length };
});
