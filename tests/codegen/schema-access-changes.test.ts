// If this file fails, a generated migration omits policies, privileges, constraints or options of views.
import { openRls } from "@svc/core";
import { sql } from "drizzle-orm";
import { integer, pgPolicy, pgRole, pgSchema, pgTable, primaryKey, serial, text, uuid } from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { apply, type Change, emptyDatabase, evolution, expectSame, migrationsOf } from "./evolution.ts";
import {
  constrained,
  constrainedOtherwise,
  notes,
  owned,
  policies,
  table,
  titles,
  viewsOnViews,
  withView,
} from "./schemas.ts";

evolution();

const changes: Record<string, Change> = {
  "the type of a column that policies and a view read is changed": {
    from: { schema: withView({ team: text("team") }) },
    to: { schema: withView({ team: integer("team") }) },
    seed: "insert into notes (user_id, title, team) values ('ann', 'kept', '7')",
    rows: { query: "select team from teams", are: [{ team: 7 }] },
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
    says: [/revoke insert \(id, message\)/],
  },
  "a policy changes its text, its roles, its verb and its kind": {
    from: { schema: { guestbook: table("guestbook", {}, policies("select", "true")) } },
    to: { schema: { guestbook: table("guestbook", {}, policies("all", "id > 1", "restrictive")) } },
  },
  "the last policy goes": {
    from: { schema: { guestbook: table("guestbook") } },
    to: { schema: { guestbook: table("guestbook", {}, () => []) } },
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
  "a view changes that other views read": {
    from: { schema: viewsOnViews("select id, title from notes") },
    to: { schema: viewsOnViews("select id, upper(title) as title from notes") },
    seed: "insert into notes (title) values ('kept')",
    rows: { query: "select title from brief", are: [{ title: "KEPT" }] },
  },
  "a table changes that views read through a view": {
    from: { schema: viewsOnViews("select id, title from notes", { rank: integer("rank") }) },
    to: { schema: viewsOnViews("select id, title from notes") },
    seed: "insert into notes (title) values ('kept')",
    rows: { query: "select title from brief", are: [{ title: "kept" }] },
  },
  "views that read each other are added": {
    from: { schema: { notes: viewsOnViews("").notes } },
    to: { schema: viewsOnViews("select id, title from notes") },
  },
  "views that read each other go": {
    from: { schema: viewsOnViews("select id, title from notes") },
    to: { schema: { notes: viewsOnViews("").notes } },
  },
};

describe("after a generated migration the database is the same as one made anew, when", () => {
  test.each(Object.entries(changes))("%s", (_name, change) => expectSame(change));
});

test("what a helper's options declare is no finding of the linter", async () => {
  const schema = {
    notes: owned({}, { read: "public" }),
    guestbook: table("guestbook"),
    board: table("board", {}, () => openRls({ read: "anyone", write: "authenticated" })),
    told: table("told", {}, () => [
      pgPolicy("select_told", { for: "select", to: pgRole("svc_anonymous").existing(), using: sql`true` }),
    ]),
  };
  const [text = ""] = await migrationsOf({ schema });
  const db = await emptyDatabase();
  await apply(db, [text]);
  const found = await db.sql(
    "select rule, name from svc_private.lint_schema() where name ~ 'notes|guestbook|board|told'",
  );
  // The author's own policy says nothing.
  expect(found).toEqual([{ rule: "world_readable_table", name: "select_told on public.told" }]);
});

test("a schema of the application's own is created, unless it is there, and requests are let in", async () => {
  const bills = pgSchema("billing").table("bills", { id: serial("id").primaryKey(), sum: integer("sum") }, () =>
    openRls({ read: "authenticated", write: "nobody" }),
  );
  const [text = ""] = await migrationsOf({ schema: { bills } });
  const made = await emptyDatabase();
  await made.sql("create schema billing authorization svc_owner");
  await apply(made, [text]);

  const db = await emptyDatabase();
  await apply(db, [text]);
  await db.sql("insert into billing.bills (sum) values (7)");
  const client = await db.connect("request");
  await client.query("set role svc_authenticated");
  expect((await client.query("select sum from billing.bills")).rows).toEqual([{ sum: 7 }]);
  await client.query("set role svc_anonymous");
  await expect(client.query("select sum from billing.bills")).rejects.toThrow("permission denied");
});
