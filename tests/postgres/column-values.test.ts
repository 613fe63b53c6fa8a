// If this file fails, ctx.db gives a handler other values than PostgreSQL holds: a null in an array as a value, or a text in a
// json column as a number.
import { inspect } from "node:util";
import {
  bigint,
  customType,
  date,
  integer,
  interval,
  json,
  jsonb,
  numeric,
  pgEnum,
  pgTable,
  pgView,
  serial,
  text,
  timestamp,
} from "drizzle-orm/pg-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openRls } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService } from "../support/service.ts";

const bytea = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });
const weather = pgEnum("weather", ["calm", "NULL", "back\\slash"]);
const columns = {
  id: serial("id").primaryKey(),
  a: bigint("a", { mode: "bigint" }).array(),
  b: bigint("b", { mode: "number" }).array(),
  c: numeric("c").array(),
  d: timestamp("d", { withTimezone: true }).array(),
  e: date("e").array(),
  f: interval("f").array(),
  g: weather("g").array(),
  h: bytea("h").array(),
  i: integer("i").array().array(),
  j: jsonb("j"),
  k: json("k"),
  l: jsonb("l").array(),
  m: text("m").array(),
};
const lists = pgTable("lists", columns, () => openRls({ read: "anyone", write: "anyone" }));
const listsView = pgView("lists_view", { id: serial("id"), g: weather("g").array(), j: jsonb("j") }).existing();

const values = {
  a: [9223372036854775807n, null],
  b: [5, null],
  c: ["0.10", null],
  d: [new Date("2026-01-01T00:00:00Z"), null],
  e: ["2026-01-01", null],
  f: ["1 day", null],
  g: ["NULL", null, "back\\slash"],
  h: [Buffer.from("ff00", "hex"), null],
  i: [[1, 2] as (number | null)[], [3, null]],
  j: "1",
  k: "null",
  l: ["true", null, { a: "2" }],
  m: ["NULL", null, "{}", ""],
} as unknown as typeof lists.$inferInsert;
const { mutation, query } = procedure;
const procedures = {
  add: mutation
    .name("lists.add")
    .allowAnonymous()
    .handler(async ({ context }) => inspect((await context.db.insert(lists).values(values).returning())[0])),
  read: query
    .name("lists.read")
    .allowAnonymous()
    .handler(async ({ context }) => inspect((await context.db.select().from(lists))[0])),
  view: query
    .name("lists.view")
    .allowAnonymous()
    .handler(async ({ context }) => inspect((await context.db.select().from(listsView))[0])),
};

const db = database();
beforeAll(() =>
  db.sql(`
    create type weather as enum ('calm', 'NULL', E'back\\\\slash');
    create table lists (id serial primary key, a bigint[], b bigint[], c numeric[], d timestamptz[], e date[], f interval[], g weather[],
      h bytea[], i integer[][], j jsonb, k json, l jsonb[], m text[]);
    create view lists_view with (security_invoker) as select id, g, j from lists;
    alter table lists enable row level security;
    create policy all_anyone on lists to svc_anonymous using (true);
    grant all on lists, lists_id_seq, lists_view to svc_anonymous`),
);
const svc = new TestService(db, apiWith({ procedures }), {}, { lists, listsView });
beforeAll(() => svc.start());
afterAll(() => svc.stop());

test("what a handler writes it reads again, nulls in arrays and texts in json included", async () => {
  const written = await svc.mutate(null, "lists.add");
  expect(written.body.json).toBe(inspect({ id: 1, ...values }));
  expect((await svc.query(null, "lists.read")).body.json).toBe(inspect({ id: 1, ...values }));
  const { g, j } = values;
  expect((await svc.query(null, "lists.view")).body.json).toBe(inspect({ id: 1, g, j }));
  const [stored] = await db.sql("select h::text, k::text, l::text from lists");
  expect(stored).toEqual({ h: '{"\\\\xff00",NULL}', k: '"null"', l: '{"\\"true\\"",NULL,"{\\"a\\": \\"2\\"}"}' });
});
