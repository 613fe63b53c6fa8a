// If this file fails, one of two enums, columns, foreign keys or policies of the same name is dropped silently, or a crash
// does not explain itself.
import { ownerRls } from "@svc/core";
import { sql } from "drizzle-orm";
import { foreignKey, pgEnum, pgPolicy, pgSchema, pgSequence, pgTable, serial, text } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { takeSnapshot } from "../../src/migrate/generate/schema-snapshot.ts";

const columns = { id: serial("id").primaryKey(), userId: text("user_id").notNull() };
const notes = pgTable("notes", columns, (t) => ownerRls(t.userId));
const snapshot = (schema: Record<string, unknown>) => takeSnapshot({ schema, auth: {} }, null);

test("a table that is exported twice is one, and two in different schemas may have one name", async () => {
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

test("two enums or sequences of one name are refused, unless they are the same", async () => {
  const mood = pgEnum("mood", ["calm"]);
  await expect(snapshot({ mood, other: pgEnum("mood", ["wild"]) })).rejects.toThrow(
    'Two different enums of the schema are named "mood".',
  );
  const tickets = pgSequence("tickets");
  await expect(snapshot({ tickets, other: pgSequence("tickets", { startWith: 5 }) })).rejects.toThrow(
    'Two different sequences of the schema are named "tickets".',
  );
  const others = { twin: pgEnum("mood", ["calm"]), elsewhere: pgSchema("other").enum("mood", ["wild"]) };
  expect(Object.keys((await snapshot({ mood, again: mood, ...others })).enums)).toEqual(["public.mood", "other.mood"]);
});

test("two foreign keys of one name are refused, unless they are the same", async () => {
  const boards = pgTable("boards", { id: text("id").primaryKey() });
  const named = (name: string, second: "id" | "userId") =>
    pgTable("notes", { id: text("id").references(() => boards.id), userId: text("user_id") }, (t) => [
      foreignKey({ name, columns: [t[second]], foreignColumns: [boards.id] }),
      foreignKey({ columns: [t.id], foreignColumns: [boards.id] }),
    ]);
  await expect(snapshot({ boards, notes: named("notes_id_boards_id_fk", "userId") })).rejects.toThrow(
    'The table "notes" has two different foreign keys named "notes_id_boards_id_fk".',
  );
  const taken = await snapshot({ boards, notes: named("other", "id") });
  expect(Object.keys(taken.tables["public.notes"]?.foreignKeys ?? {}).sort()).toEqual([
    "notes_id_boards_id_fk",
    "other",
  ]);
});
