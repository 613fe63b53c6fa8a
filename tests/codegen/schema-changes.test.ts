// If this file fails, a migration that was generated loses rows, or leaves out policies, privileges or options.
import { openRls, ownerRls } from "@svc/core";
import { sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  boolean,
  check,
  index,
  integer,
  type PgEnum,
  type PgPolicy,
  pgEnum,
  pgPolicy,
  pgSchema,
  pgTable,
  pgView,
  primaryKey,
  serial,
  text,
  timestamp,
  unique,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { apply, emptyDatabase, evolution, facts, migrationsOf, type Version } from "./evolution.ts";

evolution();

const user = pgSchema("auth").table("user", { id: text("id").primaryKey() });
const instant = (name: string) => timestamp(name, { withTimezone: true }).notNull().defaultNow();
const owned = (columns: object = {}, options: { read?: "public" } = {}) =>
  pgTable(
    "notes",
    {
      id: serial("id").primaryKey(),
      userId: text("user_id").notNull(),
      title: text("title").notNull(),
      ...columns,
      createdAt: instant("created_at"),
      updatedAt: instant("updated_at"),
    },
    (t) => ownerRls(t.userId, options),
  );
const table = (name: string, columns: object = {}, extra: () => PgPolicy[] = everybody) =>
  pgTable(name, { id: serial("id").primaryKey(), message: text("message").notNull(), ...columns }, extra);
const everybody = () => openRls({ read: "anyone", write: "anyone" });
const named = (name: string, ...values: [string, ...string[]]): PgEnum<[string, ...string[]]> => pgEnum(name, values);
const mood = (...values: [string, ...string[]]) => named("mood", ...values);
const moody = (type: PgEnum<[string, ...string[]]>, byDefault = "calm") => ({
  type,
  notes: owned({ mood: type("mood").notNull().default(byDefault), moods: type("moods").array() }),
});
const seedNote = "insert into notes (user_id, title) values ('ann', 'kept')";
const seedMood = `insert into notes (user_id, title, mood, moods) values ('ann', 'kept', 'calm', '{calm,angry}')`;

interface Change {
  from: Version;
  to: Version;
  /** Rows that are there before. */
  seed?: string;
  /** What must be there afterwards. */
  rows?: { query: string; are: unknown[] };
  /** What the text must say. */
  says?: RegExp[];
}

const kept = { query: "select title from notes", are: [{ title: "kept" }] };
const notes = { notes: owned() };

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
    says: [/-- Fails while a row of public.notes has nothing there./],
  },
  "a type is changed, with a default in its way": {
    from: { schema: { notes: owned({ rank: text("rank").default("7") }) } },
    to: { schema: { notes: owned({ rank: integer("rank").default(8) }) } },
    seed: seedNote,
    rows: { query: "select rank from notes", are: [{ rank: 7 }] },
    says: [/-- Rewrites public.notes.rank from text to integer/],
  },
  "the type of a column that policies and a view read is changed": {
    from: { schema: withView({ team: text("team") }) },
    to: { schema: withView({ team: integer("team") }) },
    seed: "insert into notes (user_id, title, team) values ('ann', 'kept', '7')",
    rows: { query: "select team from teams", are: [{ team: 7 }] },
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
  "everybody may read": {
    from: { schema: notes },
    to: { schema: { notes: owned({}, { read: "public" }) } },
    says: [/drop policy select_owner/, /create policy select_anyone/, /grant select on public.notes to svc_anonymous;/],
  },
  "only the owner may read again": {
    from: { schema: { notes: owned({}, { read: "public" }) } },
    to: { schema: notes },
    says: [/revoke select on public.notes from svc_anonymous;/],
  },
  "nobody may write any more": {
    from: { schema: { guestbook: table("guestbook") } },
    to: { schema: { guestbook: table("guestbook", {}, () => openRls({ read: "anyone", write: "nobody" })) } },
    says: [/revoke insert \(message\)/, /revoke usage on sequence public.guestbook_id_seq/],
  },
  "a policy changes its text, its roles, its verb and its kind": {
    from: { schema: { guestbook: table("guestbook", {}, policies("select", "true")) } },
    to: { schema: { guestbook: table("guestbook", {}, policies("all", "id > 1", "restrictive")) } },
  },
  "the last policy goes": {
    from: { schema: { guestbook: table("guestbook") } },
    to: { schema: { guestbook: table("guestbook", {}, () => []) } },
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
    says: [/-- Loses what every row of notes has in rank.\nALTER TABLE "notes" DROP COLUMN "rank"/],
  },
  "a table is renamed": {
    from: { schema: { notes: owned({ slug: text("slug").unique() }) } },
    to: { schema: { todos: renamed("todos", { slug: text("slug").unique() }) }, renames: ["notes:todos"] },
    seed: seedNote,
    rows: { query: "insert into todos (user_id, title) values ('b', 'b') returning id", are: [{ id: 2 }] },
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
    says: [/-- Takes 'cross' away from mood: fails while a row holds it./],
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
  "constraints and foreign keys change, also to auth.user": {
    from: { schema: { notes: constrained({ rank: integer("rank").unique() }) } },
    to: { schema: constrainedOtherwise() },
  },
  "a primary key changes": {
    from: { schema: { pairs: pgTable("pairs", { id: serial("id").primaryKey(), a: integer("a").notNull() }) } },
    to: {
      schema: {
        pairs: pgTable(
          "pairs",
          { id: serial("id"), a: integer("a").notNull(), b: uuid("b").notNull().defaultRandom() },
          (t) => [primaryKey({ columns: [t.a, t.b] })],
        ),
      },
    },
    seed: "insert into pairs (a) values (1)",
  },
  "a view gets security_invoker": {
    from: { schema: { ...notes, titles: titles(false) } },
    to: { schema: { ...notes, titles: titles(true) } },
    says: [/SET \(security_invoker = true\)/, /grant select on public.titles to svc_anonymous, svc_authenticated;/],
  },
  "a view loses security_invoker": {
    from: { schema: { ...notes, titles: titles(true) } },
    to: { schema: { ...notes, titles: titles(false) } },
    says: [/revoke select on public.titles from svc_anonymous, svc_authenticated;/],
  },
  "a view changes its columns": {
    from: { schema: { ...notes, titles: titles(true) } },
    to: { schema: { ...notes, titles: titles(true, true) } },
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
    says: [/-- Loses what every user has in credit./],
  },
  "a user field is renamed": {
    from: { schema: {}, auth: fields({ role: { type: "text", default: "it's" } }) },
    to: { schema: {}, auth: fields({ rank: { type: "text", default: "it's" } }), renames: ["user.role:rank"] },
    seed: `insert into auth."user" (id, name, email, role) values ('ann', 'Ann', 'ann@example.com', 'boss')`,
    rows: { query: `select rank from auth."user"`, are: [{ rank: "boss" }] },
  },
};

describe("after a generated migration the database is the same as one made anew, when", () => {
  test.each(Object.entries(changes))("%s", async (_name, { from, to, seed, rows, says = [] }) => {
    const texts = await migrationsOf(from, to, { ...to, renames: [], drops: [] });
    const [first, second, third] = texts;
    expect(second).not.toBeNull();
    expect(third).toBeNull(); // nothing is left to say
    for (const words of says) expect(second).toMatch(words);

    const upgraded = await emptyDatabase();
    await apply(upgraded, [first ?? ""]);
    if (seed) await upgraded.sql(seed);
    await apply(upgraded, [first ?? "", second ?? ""]);
    const state = await facts(upgraded);
    if (rows) expect(await upgraded.sql(rows.query)).toEqual(rows.are);

    const fresh = await emptyDatabase();
    await apply(fresh, [first ?? "", second ?? ""]);
    expect(state).toEqual(await facts(fresh));

    const direct = await emptyDatabase();
    await apply(direct, await migrationsOf({ ...to, renames: [], drops: [] }));
    expect(state).toEqual(await facts(direct));
  });
});

test("a schema that did not change gives no migration", async () => {
  const version = { schema: { ...moody(mood("calm")), titles: titles(true), guestbook: table("guestbook") } };
  expect((await migrationsOf(version, version)).at(1)).toBeNull();
});

function policies(verb: "select" | "all", text: string, as?: "restrictive") {
  const to = verb === "all" ? "public" : "svc_authenticated";
  const changing = pgPolicy("changing", { for: verb, to, using: sql.raw(text), ...(as && { as }) });
  return () => [changing, pgPolicy("staying", { for: "insert", withCheck: sql`true` })];
}

/** A table whose policy and view read the column `team`. */
function withView(columns: { team: ReturnType<typeof text> | ReturnType<typeof integer> }) {
  const notes = pgTable(
    "notes",
    { id: serial("id").primaryKey(), userId: text("user_id").notNull(), title: text("title"), ...columns },
    (t) => [
      pgPolicy("select_team", {
        for: "select",
        using: sql`${(t as unknown as { team: AnyPgColumn }).team} is not null`,
      }),
    ],
  );
  const view = pgView("teams").with({ securityInvoker: true });
  return {
    notes,
    teams: view.as((query) => query.select({ team: (notes as unknown as { team: AnyPgColumn }).team }).from(notes)),
  };
}

function constrained(columns: { rank: ReturnType<ReturnType<typeof integer>["unique"]> }) {
  return pgTable(
    "notes",
    {
      id: serial("id").primaryKey(),
      userId: text("user_id").notNull(),
      title: text("title").notNull(),
      ...columns,
      createdAt: instant("created_at"),
      updatedAt: instant("updated_at"),
    },
    (t) => [...ownerRls(t.userId), index("by_rank").on(t.rank), check("rank_positive", sql`${t.rank} > 0`)],
  );
}

function constrainedOtherwise() {
  const groups = pgTable("groups", { code: text("code").notNull() }, (t) => [uniqueIndex("groups_code").on(t.code)]);
  const notes = pgTable(
    "notes",
    {
      id: serial("id").primaryKey(),
      userId: text("user_id")
        .notNull()
        .references(() => user.id, { onDelete: "cascade" }),
      title: text("title").notNull(),
      rank: integer("rank"),
      groupCode: text("group_code").references(() => groups.code),
      createdAt: instant("created_at"),
      updatedAt: instant("updated_at"),
    },
    (t) => [
      ...ownerRls(t.userId),
      index("by_rank").on(t.rank.desc(), t.title),
      check("rank_positive", sql`${t.rank} >= 0`),
      unique().on(t.title, t.rank),
    ],
  );
  return { groups, notes };
}

function renamed(name: string, columns: object = {}, owner = "user_id") {
  return pgTable(
    name,
    {
      id: serial("id").primaryKey(),
      userId: text(owner).notNull(),
      title: text("title").notNull(),
      ...columns,
      createdAt: instant("created_at"),
      updatedAt: instant("updated_at"),
    },
    (t) => ownerRls(t.userId),
  );
}

function titles(securityInvoker: boolean, withOwner = false) {
  const table = owned();
  const columns = { title: table.title, ...(withOwner && { owner: table.userId }) };
  return pgView("titles")
    .with({ securityInvoker, securityBarrier: true })
    .as((query) => query.select(columns).from(table));
}

function fields(additionalFields: NonNullable<NonNullable<AuthDefinitionUser>["additionalFields"]>) {
  return { user: { additionalFields } };
}
type AuthDefinitionUser = NonNullable<Version["auth"]>["user"];
