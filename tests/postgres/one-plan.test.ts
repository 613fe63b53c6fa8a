// If this file fails, a handler's list of a rare value is read by a plan for all values, hundreds of times slower; or a row by
// its key is planned in each call.
import { and, asc, count, eq, exists, gt, inArray, not, or, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { index, integer, pgTable, pgView, primaryKey, serial, text, unique, uniqueIndex } from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { onePlanFits } from "../../src/postgres/one-plan.ts";

const notes = pgTable(
  "notes",
  {
    id: serial("id").primaryKey(),
    slug: text("slug").unique(),
    state: text("state").notNull(),
    place: integer("place"),
    page: integer("page"),
    code: text("code"),
  },
  (t) => [
    unique().on(t.place, t.page),
    uniqueIndex().on(t.code).where(sql`${t.state} = 'open'`),
    index().on(t.state),
    uniqueIndex().on(sql`lower(${t.code})`),
  ],
);
const stars = pgTable("stars", { noteId: integer("note_id"), userId: text("user_id") }, (t) => [
  primaryKey({ columns: [t.noteId, t.userId] }),
]);
const shown = pgView("shown").as((query) => query.select().from(notes));
const schema = { notes, stars, shown, helper: () => 1 };
const db = drizzle.mock({ schema });
const fits = onePlanFits(schema);

describe("one plan fits", () => {
  test.each([
    ["a row by its primary key", db.select().from(notes).where(eq(notes.id, 1))],
    [
      "by a unique column",
      db
        .select()
        .from(notes)
        .where(and(eq(notes.state, "open"), eq(notes.slug, "a"))),
    ],
    [
      "by two columns that are unique together",
      db
        .select()
        .from(notes)
        .where(and(eq(notes.place, 1), eq(notes.page, 2))),
    ],
    ["by a key of two columns", db.delete(stars).where(and(eq(stars.userId, "ann"), eq(stars.noteId, 1)))],
    [
      "a row with those that it refers to",
      db.select().from(notes).innerJoin(stars, eq(stars.noteId, notes.id)).where(eq(notes.id, 1)),
    ],
    ["a change of a row", db.update(notes).set({ state: "done" }).where(eq(notes.id, 1)).returning()],
    ["an insert", db.insert(notes).values({ state: "open" }).returning()],
    [
      "an insert that may change a row",
      db
        .insert(notes)
        .values({ id: 1, state: "a" })
        .onConflictDoUpdate({ target: notes.id, set: { state: "b" } }),
    ],
    ["a count of all", db.select({ n: count() }).from(notes)],
  ])("%s", (_, query) => expect(fits(query.toSQL().sql)).toBe(true));

  test.each([
    ["a list of a value", db.select().from(notes).where(eq(notes.state, "open")).orderBy(asc(notes.id))],
    ["a number of a value", db.select({ n: count() }).from(notes).where(eq(notes.state, "open"))],
    ["a page", db.select().from(notes).orderBy(asc(notes.id)).limit(20)],
    ["half of a key", db.select().from(stars).where(eq(stars.noteId, 1))],
    ["a column that is unique among some", db.select().from(notes).where(eq(notes.code, "x"))],
    [
      "an alternative to a key",
      db
        .select()
        .from(notes)
        .where(or(eq(notes.id, 1), eq(notes.state, "open"))),
    ],
    [
      "what has not the key",
      db
        .select()
        .from(notes)
        .where(not(eq(notes.id, 1))),
    ],
    ["what is beyond a key", db.select().from(notes).where(gt(notes.id, 1))],
    [
      "several keys",
      db
        .select()
        .from(notes)
        .where(inArray(notes.id, [1, 2])),
    ],
    [
      "a key inside another statement",
      db
        .select()
        .from(notes)
        .where(
          exists(
            db
              .select()
              .from(stars)
              .where(and(eq(stars.noteId, 1), eq(stars.userId, "a"))),
          ),
        ),
    ],
    ["rows of a view", db.select().from(shown).where(eq(shown.id, 1))],
    [
      "an insert of what was read",
      db
        .insert(stars)
        .select(db.select({ noteId: notes.id, userId: notes.state }).from(notes).where(eq(notes.state, "open"))),
    ],
    ["a relation", db.query.notes.findMany({ where: eq(notes.state, "open"), limit: 3 })],
  ])("not: %s", (_, query) => expect(fits(query.toSQL().sql)).toBe(false));
});
