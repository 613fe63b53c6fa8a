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
import { createSvcProcedureBuilders, openRls } from "../../src/index.ts";
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
  n: numeric("n", { mode: "bigint" }),
  o: numeric("o", { mode: "bigint" }).array(),
};
const times = pgTable(
  "times",
  {
    id: serial("id").primaryKey(),
    at: timestamp("at", { withTimezone: true }),
    local: timestamp("local"),
    day: date("day", { mode: "date" }),
  },
  () => openRls({ read: "anyone", write: "anyone" }),
);
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
  n: 10n ** 30n,
  o: [10n, null],
} as unknown as typeof lists.$inferInsert;
const shown = ({ at, local, day }: typeof times.$inferSelect) =>
  [at, local, day].map((time) => (Number.isNaN(Number(time)) ? "invalid" : time?.toISOString())).join(" ");
const { mutation, query } = createSvcProcedureBuilders<{ times: typeof times }>();
const procedures = {
  add: mutation
    .name("lists.add")
    .allowAnonymous()
    .handler(async ({ context }) => inspect((await context.db.insert(lists).values(values).returning())[0])),
  read: query
    .name("lists.read")
    .allowAnonymous()
    .handler(async ({ context }) => inspect((await context.db.select().from(lists))[0])),
  times: query
    .name("times.read")
    .allowAnonymous()
    .handler(async ({ context }) => inspect((await context.db.select().from(times).orderBy(times.id)).map(shown))),
  related: query
    .name("times.related")
    .allowAnonymous()
    .handler(async ({ context }) => inspect((await context.db.query.times.findMany({ orderBy: times.id })).map(shown))),
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
      h bytea[], i integer[][], j jsonb, k json, l jsonb[], m text[],
      n numeric, o numeric[]);
    create view lists_view with (security_invoker) as select id, g, j from lists;
    create table times (id serial primary key, at timestamptz, local timestamp, day date);
    insert into times (at, local, day) values
      ('0001-01-01 00:00+00', '0001-01-01 00:00', '0001-01-01'),
      ('0050-06-01 12:00:00.5+00', '0050-06-01 12:00:00.5', '0050-06-01'),
      ('2026-03-29 02:30:00.123456+02', '2026-03-29 02:30:00.123456', '2026-03-29'),
      ('12026-01-01 00:00+00', '12026-01-01 00:00', '12026-01-01'),
      ('infinity', '-infinity', 'infinity'), ('0044-03-15 01:02+00 BC', '0044-03-15 01:02 BC', '0044-03-15 BC');
    alter table times enable row level security;
    create policy all_anyone on times to svc_anonymous using (true);
    grant select on times to svc_anonymous;
    alter table lists enable row level security;
    create policy all_anyone on lists to svc_anonymous using (true);
    grant all on lists, lists_id_seq, lists_view to svc_anonymous`),
);
const svc = new TestService(db, apiWith({ procedures }), {}, { lists, listsView, times });
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

// Drizzle's conversion failed, and the answer was 500 for all rows.
test("a numeric in mode bigint that is no whole number stays a text", async () => {
  await db.sql("update lists set n = 'NaN', o = '{NaN, 1.5, -7}'");
  const read = (await svc.query(null, "lists.read")).body.json;
  expect(read).toBe(inspect({ id: 1, ...values, n: "NaN", o: ["NaN", "1.5", -7n] }));
});

test("times are those that PostgreSQL holds, whatever the year; what no Date can hold is an invalid one", async () => {
  const expected = inspect([
    "0001-01-01T00:00:00.000Z 0001-01-01T00:00:00.000Z 0001-01-01T00:00:00.000Z",
    "0050-06-01T12:00:00.500Z 0050-06-01T12:00:00.500Z 0050-06-01T00:00:00.000Z",
    "2026-03-29T00:30:00.123Z 2026-03-29T02:30:00.123Z 2026-03-29T00:00:00.000Z",
    "+012026-01-01T00:00:00.000Z +012026-01-01T00:00:00.000Z +012026-01-01T00:00:00.000Z",
    "invalid invalid invalid",
    "invalid invalid invalid",
  ]);
  expect((await svc.query(null, "times.read")).body.json).toBe(expected);
  expect((await svc.query(null, "times.related")).body.json).toBe(expected);
  // Hooks get the values of calls by the same way.
  for (const text of ["2026-01-01T02:00:00.5+02:00", "2026-01-01T00:00:00.500Z", "2026-01-01 00:00:00.5"]) {
    expect(times.local.mapFromDriverValue(text)).toEqual(new Date("2026-01-01T00:00:00.5Z"));
  }
});
