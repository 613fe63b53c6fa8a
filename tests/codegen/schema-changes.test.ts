import type { BetterAuthPlugin } from "better-auth";
import { admin, organization, twoFactor, username } from "better-auth/plugins";
import { boolean, integer, pgSchema, pgTable, serial, text, vector } from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import type { AuthDefinition } from "../../src/contract/auth.ts";
import { type Change, evolution, expectSame, migrationsOf } from "./evolution.ts";
import {
  constrained,
  fields,
  kept,
  mood,
  moody,
  named,
  notes,
  owned,
  renamed,
  seedMood,
  seedNote,
  table,
  titles,
} from "./schemas.ts";

evolution();

const withPlugins = (...plugins: BetterAuthPlugin[]): AuthDefinition => ({
  betterAuth: (defaults) => ({ ...defaults, plugins }),
});

// As the plugin `admin` has them, but for the default of one.
const declared = fields({
  role: { type: "text", default: "member" },
  banned: { type: "boolean", default: false },
  banExpires: { type: "timestamp" },
});
const seedAdmin = `insert into auth."user" (id, name, email, role, ban_expires)
  values ('ann', 'Ann', 'ann@example.com', 'boss', '2026-01-01Z')`;
const adminKept = {
  query: `select role, banned, ban_expires::date::text from auth."user"`,
  are: [{ role: "boss", banned: false, ban_expires: "2026-01-01" }],
};

const columns = { id: serial("id").primaryKey(), title: text("title").unique() };

const changes: Record<string, Change> = {
  "a table is added": {
    from: { schema: notes },
    to: { schema: { ...notes, guestbook: table("guestbook") } },
    seed: seedNote,
    rows: kept,
  },
  "a column is added": {
    from: { schema: notes },
    to: { schema: { notes: owned({ done: boolean("done").notNull().default(false) }) } },
    seed: seedNote,
    rows: { query: "select title, done from notes", are: [{ title: "kept", done: false }] },
    says: [/grant insert \(done\) on public.notes to svc_authenticated;/, /grant update \(done\)/],
  },
  "a default is changed": {
    from: { schema: { notes: owned({ rank: integer("rank").default(1) }) } },
    to: { schema: { notes: owned({ rank: integer("rank").default(2) }) } },
    seed: seedNote,
    rows: { query: "select rank from notes", are: [{ rank: 1 }] },
  },
  "a column gets and loses NOT NULL and default": {
    from: { schema: { notes: owned({ a: integer("a").notNull().default(1), b: integer("b") }) } },
    to: { schema: { notes: owned({ a: integer("a"), b: integer("b").notNull() }) } },
    seed: "insert into notes (user_id, title, b) values ('ann', 'kept', 1)",
    rows: kept,
    says: [
      /-- Fails while a row of public.notes has null there.\n-- To fill it, write above: UPDATE public.notes SET \w+ = … WHERE \w+ IS NULL;/,
    ],
  },
  "a required column without a default": {
    from: { schema: { notes: owned() } },
    to: { schema: { notes: owned({ dueAt: text("dueAt").notNull() }) } },
    says: [
      /-- Fails when notes has rows, because they would have null there: give it a default, or fill it\.\n-- To fill it, leave out NOT NULL, and write below: UPDATE "notes" SET "dueAt" = …; ALTER TABLE "notes" ALTER COLUMN "dueAt" SET NOT NULL;\nALTER TABLE "notes" ADD COLUMN "dueAt"/,
    ],
  },
  "a type is changed, with a default in its way": {
    from: { schema: { notes: owned({ rank: text("rank").default("7") }) } },
    to: { schema: { notes: owned({ rank: integer("rank").default(8) }) } },
    seed: seedNote,
    rows: { query: "select rank from notes", are: [{ rank: 7 }] },
    says: [/-- Rewrites public.notes.rank from text to integer/],
  },
  "vectors get another length": {
    from: { schema: { notes: owned({ embedding: vector("embedding", { dimensions: 2 }) }) } },
    to: { schema: { notes: owned({ embedding: vector("embedding", { dimensions: 3 }) }) } },
    seed: "insert into notes (user_id, title, embedding) values ('ann', 'kept', '[1,2]')",
    rows: { query: "select title, embedding from notes", are: [{ title: "kept", embedding: null }] },
    says: [/-- Loses the vectors in public.notes.embedding, because vector\(3\) holds none of vector\(2\)/],
  },
  "vectors that must not be null get another length": {
    from: { schema: { notes: owned({ embedding: vector("embedding", { dimensions: 2 }).notNull() }) } },
    to: { schema: { notes: owned({ embedding: vector("embedding", { dimensions: 3 }).notNull() }) } },
    says: [/-- Fails when public.notes has rows, because vector\(3\) holds no vector of vector\(2\)/],
  },
  "an integer becomes serial": {
    from: { schema: { notes: owned({ number: integer("number") }) } },
    to: { schema: { notes: owned({ number: serial("number") }) } },
    seed: "insert into notes (user_id, title, number) values ('ann', 'kept', 41)",
    rows: { query: "insert into notes (user_id, title) values ('b', 'b') returning number", are: [{ number: 42 }] },
  },
  "a serial becomes text": {
    from: { schema: { notes: owned({ number: serial("number") }) } },
    to: { schema: { notes: owned({ number: text("number").notNull() }) } },
    seed: seedNote,
    rows: { query: "select number from notes", are: [{ number: "1" }] },
  },
  "a table goes": {
    from: {
      schema: { ...notes, comments: pgTable("comments", { note: integer("note").references(() => notes.notes.id) }) },
    },
    to: { schema: { comments: pgTable("comments", { note: integer("note") }) } },
    seed: `${seedNote}; insert into comments values (1)`,
    rows: { query: "select * from comments", are: [{ note: 1 }] },
    says: [/-- Loses the table notes and every row in it.\nDROP TABLE "notes"/],
  },
  "a column with an index, a check and a key goes": {
    from: { schema: { notes: constrained({ rank: integer("rank").unique() }) } },
    to: { schema: { notes: owned() } },
    seed: seedNote,
    rows: kept,
    says: [/-- Loses the values of rank in every row of notes.\nALTER TABLE "notes" DROP COLUMN "rank"/],
  },
  "a table is renamed": {
    from: { schema: { notes: owned({ slug: text("slug").unique() }) } },
    to: { schema: { todos: renamed("todos", { slug: text("slug").unique() }) }, renames: ["notes:todos"] },
    seed: seedNote,
    rows: { query: "insert into todos (user_id, title) values ('b', 'b') returning id", are: [{ id: 2 }] },
  },
  "a table moves into a new schema": {
    from: { schema: { bills: pgTable("bills", columns) } },
    to: { schema: { bills: pgSchema("My Sales").table("bills", columns) }, renames: ["bills:My Sales.bills"] },
    seed: "insert into bills (title) values ('kept')",
    rows: { query: `select id, title from "My Sales".bills`, are: [{ id: 1, title: "kept" }] },
    says: [/set schema "My Sales";/],
  },
  "a column that policies, grants and an index name is renamed": {
    from: { schema: notes },
    to: { schema: { notes: renamed("notes", {}, "owner_id") }, renames: ["notes.user_id:notes.owner_id"] },
    seed: seedNote,
    rows: { query: "select owner_id from notes", are: [{ owner_id: "ann" }] },
  },
  "a table and its column are renamed at once": {
    from: { schema: notes },
    to: { schema: { todos: renamed("todos", {}, "owner_id") }, renames: ["notes.user_id:owner_id", "notes:todos"] },
    seed: seedNote,
    rows: { query: "select owner_id from todos", are: [{ owner_id: "ann" }] },
  },
  "a column goes and another comes": {
    from: { schema: { notes: owned({ a: text("a") }) } },
    to: { schema: { notes: owned({ b: text("b") }) }, drops: ["notes.a"] },
    seed: "insert into notes (user_id, title, a) values ('ann', 'kept', 'a')",
    rows: { query: "select title, b from notes", are: [{ title: "kept", b: null }] },
  },
  "an enum gets a value": {
    from: { schema: moody(mood("calm", "angry")) },
    to: { schema: moody(mood("calm", "cross", "angry")) },
    seed: seedMood,
    rows: { query: "select moods::text from notes", are: [{ moods: "{calm,angry}" }] },
    says: [/ALTER TYPE "public"."mood" ADD VALUE 'cross' BEFORE 'angry'/],
  },
  "an enum gets a value that is a default at once": {
    from: { schema: moody(mood("calm", "angry")) },
    to: { schema: moody(mood("calm", "angry", "cross"), "cross") },
    seed: seedMood,
    rows: { query: "insert into notes (user_id, title) values ('b', 'b') returning mood", are: [{ mood: "cross" }] },
  },
  "an enum loses a value that no row holds": {
    from: { schema: moody(mood("calm", "angry", "cross")) },
    to: { schema: moody(mood("calm", "angry")) },
    seed: seedMood,
    rows: { query: "select mood, moods::text from notes", are: [{ mood: "calm", moods: "{calm,angry}" }] },
    says: [/-- Takes 'cross' away from mood. Fails while a row holds it./],
  },
  "a value of an enum is renamed": {
    from: { schema: moody(mood("calm", "angry")) },
    to: { schema: moody(mood("calm", "cross")), renames: ["mood.angry:cross"] },
    seed: seedMood,
    rows: { query: "select moods::text from notes", are: [{ moods: "{calm,cross}" }] },
  },
  "an enum is renamed": {
    from: { schema: moody(mood("calm", "angry")) },
    to: { schema: moody(named("temper", "calm", "angry")), renames: ["mood:temper"] },
    seed: seedMood,
    rows: { query: "select moods::text from notes", are: [{ moods: "{calm,angry}" }] },
  },
  "a text becomes an enum": {
    from: { schema: { notes: owned({ mood: text("mood").default("calm") }) } },
    to: { schema: { notes: owned({ mood: mood("calm")("mood").default("calm") }), mood: mood("calm") } },
    seed: seedNote,
    rows: { query: "select mood from notes", are: [{ mood: "calm" }] },
  },
  "an enum becomes text": {
    from: { schema: { notes: owned({ mood: mood("calm")("mood").default("calm") }), mood: mood("calm") } },
    to: { schema: { notes: owned({ mood: text("mood").default("calm") }) } },
    seed: seedNote,
    rows: { query: "select mood from notes", are: [{ mood: "calm" }] },
  },
  "user fields are added, changed and dropped": {
    from: { schema: {}, auth: fields({ role: { type: "text", default: "member" }, credit: { type: "integer" } }) },
    to: {
      schema: {},
      auth: fields({ role: { type: "text", default: "guest" }, seenAt: { type: "timestamp", default: "now" } }),
      drops: ["user.credit"],
    },
    seed: `insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@example.com')`,
    rows: { query: `select role from auth."user"`, are: [{ role: "member" }] },
    says: [/-- Loses every user's value in credit./],
  },
  "a user field is renamed": {
    from: { schema: {}, auth: fields({ role: { type: "text", default: "it's" } }) },
    to: { schema: {}, auth: fields({ rank: { type: "text", default: "it's" } }), renames: ["user.role:rank"] },
    seed: `insert into auth."user" (id, name, email, role) values ('ann', 'Ann', 'ann@example.com', 'boss')`,
    rows: { query: `select rank from auth."user"`, are: [{ rank: "boss" }] },
  },
  "a plugin of better-auth comes": {
    from: { schema: notes },
    to: { schema: notes, auth: withPlugins(twoFactor(), username()) },
    seed: `insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@example.com')`,
    rows: {
      query: `select two_factor_enabled, username from auth."user"`,
      are: [{ two_factor_enabled: false, username: null }],
    },
    says: [/CREATE TABLE "auth"."two_factor"/, /create policy all_auth on auth.two_factor for all to svc_auth/],
  },
  "a plugin of better-auth goes": {
    from: { schema: notes, auth: withPlugins(twoFactor(), username()) },
    to: { schema: notes },
    says: [/-- Loses the table auth.two_factor and/, /-- Loses the values of username in every row of auth.user./],
  },
  "columns of a plugin of better-auth are declared as fields": {
    from: { schema: notes, auth: withPlugins(admin()) },
    to: { schema: notes, auth: { ...withPlugins(admin()), ...declared } },
    seed: seedAdmin,
    rows: adminKept,
  },
  "declared fields become columns of a plugin of better-auth": {
    from: { schema: notes, auth: declared },
    to: { schema: notes, auth: withPlugins(admin()) },
    seed: seedAdmin,
    rows: adminKept,
  },
  "a table is removed while a plugin's are added, which it never becomes": {
    from: { schema: { ...notes, guestbook: table("guestbook") } },
    to: { schema: notes, auth: withPlugins(organization()) },
    seed: seedNote,
    rows: kept,
    says: [/DROP TABLE "guestbook"/i],
  },
  "one plugin of better-auth makes way for another": {
    from: { schema: notes, auth: withPlugins(twoFactor()) },
    to: {
      schema: notes,
      auth: withPlugins(organization()),
      drops: ["auth.two_factor"],
    },
  },
};

describe("after a generated migration the database is the same as one made anew, when", () => {
  test.each(Object.entries(changes))("%s", (_name, change) => expectSame(change));
});

test("a schema that did not change gives no migration", async () => {
  const version = { schema: { ...moody(mood("calm")), titles: titles(true), guestbook: table("guestbook") } };
  expect((await migrationsOf(version, version)).at(1)).toBeNull();
});
