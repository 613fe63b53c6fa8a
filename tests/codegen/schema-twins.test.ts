// If this file fails, one of two tables or policies of the same name is dropped silently, or a crash does not explain
// itself.
import { ownerRls } from "@svc/core";
import { sql } from "drizzle-orm";
import { pgPolicy, pgSchema, pgTable, serial, text } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { takeSnapshot } from "../../src/migrate/generate/schema-snapshot.ts";

const columns = { id: serial("id").primaryKey(), userId: text("user_id").notNull() };
const notes = pgTable("notes", columns, (t) => ownerRls(t.userId));
const snapshot = (schema: Record<string, unknown>) => takeSnapshot({ schema, auth: {} }, null);

test("two tables of one name are refused, and one that is exported twice is not", async () => {
  const twin = pgTable("notes", { ...columns, title: text("title") });
  await expect(snapshot({ notes, twin })).rejects.toThrow('Two tables of the schema are named "notes".');
  const elsewhere = pgSchema("other").table("notes", columns);
  expect(Object.keys((await snapshot({ notes, again: notes, elsewhere })).tables)).toEqual([
    "public.notes",
    "other.notes",
  ]);
});

test("two policies of one name are refused", async () => {
  const twice = pgTable("notes", columns, (t) => [
    ...ownerRls(t.userId),
    pgPolicy("select_owner", { using: sql`true` }),
  ]);
  await expect(snapshot({ twice })).rejects.toThrow(/"notes" has two policies named "select_owner"/);
});

test("a policy of a column that there is not says so", async () => {
  const table = pgTable("notes", columns, (t) => ownerRls(Object(t).ownerId));
  await expect(snapshot({ table })).rejects.toThrow(/ownerRls got no column, but undefined/);
});

test.each([
  [{ one: text("body"), two: text("body") }, '"notes" has two columns named "body".'],
  [{ one: text("__proto__"), two: text("body") }, '"notes" has a column named "__proto__".'],
])("two columns of one name, or one that JavaScript cannot hold, are refused", async (columns, message) => {
  await expect(snapshot({ notes: pgTable("notes", columns) })).rejects.toThrow(message);
});
