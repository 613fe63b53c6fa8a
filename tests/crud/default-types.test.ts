// If this file fails, create answers 500 for a table whose default PostgreSQL converts to the type of its column, or whose
// default calls a function of the application; or it changes a value that is given.
import { sql } from "drizzle-orm";
import { bigint, customType, json, numeric, pgTable, serial, text, time, varchar } from "drizzle-orm/pg-core";
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, defineApi, openRls } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";

const money = customType<{ data: string }>({ dataType: () => "money" });
const tickets = pgTable(
  "tickets",
  {
    id: serial("id").primaryKey(),
    token: text("token").default(sql`gen_random_uuid()`),
    number: varchar("number", { length: 4 }).default(sql`41 + 1`),
    opens: time("opens").defaultNow(),
    data: json("data").default(sql`jsonb_build_object('a', 1)`),
    price: money("price").default(sql`12.5`),
    plain: text("plain").default("it's"),
    chance: numeric("chance", { precision: 40, scale: 10 }).default(sql`random()`),
    large: bigint("large", { mode: "bigint" }).default(sql`random() * 0`),
    label: text("label").default(sql`make_label()`),
  },
  () => openRls({ read: "anyone", write: "anyone" }),
);
const api = defineApi({
  procedures: { tickets: createCrudFactory(procedure)(tickets, { many: true, allowAnonymous: true }) },
});
const db = database();
beforeAll(() =>
  db.sql(`
    create function make_label() returns text language sql as $$ select 'a label' $$;
    create table tickets (chance numeric(40, 10) default random(), large bigint default random() * 0, label text default make_label(),
      id serial primary key, token text default gen_random_uuid(), number varchar(4) default 41 + 1,
      opens time default now(), data json default jsonb_build_object('a', 1), price money default 12.5, plain text default 'it''s');
    ${api["~svc"].crud.map(crudFile).join("\n")}`),
);

test.each([
  ["create", (row: string) => `svc_crud.tickets_create('${row}')::jsonb`],
  ["createMany", (row: string) => `svc_crud.tickets_create_many('[${row}]')::jsonb #> '{data,0}'`],
])("%s gives a row the defaults of its table, or what it is given", async (_, call) => {
  const [none] = await db.sql(`select ${call("{}")} as row`);
  expect(none?.row).toMatchObject({ number: "42", data: { a: 1 }, price: "$12.50", plain: "it's", large: "0" });
  expect(none?.row).toMatchObject({ label: "a label", chance: expect.stringMatching(/^0\.\d{10}$/) });
  expect(none?.row.token).toMatch(/^[0-9a-f-]{36}$/);
  expect(none?.row.opens).toMatch(/^\d\d:\d\d/);
  const [given] = await db.sql(`select ${call('{"token": null, "number": "7", "price": "$1.00"}')} as row`);
  expect(given?.row).toMatchObject({ token: null, number: "7", price: "$1.00" });
  const exact = { chance: "12345678901234567890.1234567891", large: "9007199254740993", label: "mine" };
  const [kept] = await db.sql(`select ${call(JSON.stringify(exact))} as row`);
  expect(kept?.row).toMatchObject(exact);
});

// jsonb_populate_record asks every domain of a row that it makes.
test("a column whose domain is NOT NULL may be left out where it has a default, and in changes of others", async () => {
  const rate = customType<{ data: string }>({ dataType: () => "rate" });
  const priced = pgTable(
    "priced",
    {
      id: serial("id").primaryKey(),
      title: text("title").unique(),
      rate: rate("rate").default(sql`0`),
      bound: rate("bound").notNull(),
    },
    () => openRls({ read: "anyone", write: "anyone" }),
  );
  const options = { many: true, upsertBy: ["title"], allowAnonymous: true, allowedFilters: ["title"] } as const;
  const procedures = { priced: createCrudFactory(procedure)(priced, options) };
  await db.sql(`
    create domain rate as numeric not null default 1;
    create table priced (id serial primary key, title text unique, rate rate default 0, bound rate);
    ${defineApi({ procedures })["~svc"].crud.map(crudFile).join("\n")}`);
  const call = async (name: string, ...args: unknown[]) => {
    const values = args.map((arg) => (typeof arg === "object" ? JSON.stringify(arg) : arg));
    const [row] = await db.sql(
      `select svc_crud.priced_${name}(${args.map((_, at) => `$${at + 1}`)})::jsonb as it`,
      values,
    );
    return row?.it;
  };
  expect(await call("create", { title: "a", bound: "9" })).toMatchObject({ rate: "0", bound: "9" });
  expect(await call("create", { title: "b", rate: "2", bound: "9" })).toMatchObject({ rate: "2" });
  const rows = [
    { title: "c", rate: "3", bound: "9" },
    { title: "d", bound: "8" },
  ];
  expect((await call("create_many", rows)).data).toMatchObject([{ rate: "3" }, { rate: "0", bound: "8" }]);
  expect(await call("update", 2, { title: "B" })).toMatchObject({ title: "B", rate: "2", bound: "9" });
  expect(await call("update", 2, { bound: "7" })).toMatchObject({ title: "B", rate: "2", bound: "7" });
  expect(await call("upsert", "title", { title: "B", bound: "6" }, ["title", "bound"])).toMatchObject({
    rate: "2",
    bound: "6",
  });
  expect(await call("upsert", "title", { title: "e", bound: "6" }, ["title", "bound"])).toMatchObject({ rate: "0" });
  expect(await call("update_many", { filters: { title: "c" }, max: 9 }, { bound: "5" })).toMatchObject({ count: 1 });

  // One row after the other, because the statement for all of them fails: the second has nothing of the first.
  const failing = call("create_many", [
    { title: "f", rate: "3", bound: "9" },
    { title: "f", bound: "9" },
  ]);
  await expect(failing).rejects.toMatchObject({ code: "23505" });
  for (const wrong of [{ title: "x", rate: null, bound: "9" }, { title: "x", bound: null }, { title: "x" }]) {
    await expect(call("create", wrong), JSON.stringify(wrong)).rejects.toMatchObject({ code: "23502" });
    await expect(call("create_many", [wrong])).rejects.toMatchObject({ code: "23502" });
  }
  await expect(call("update", 2, { rate: null })).rejects.toMatchObject({ code: "23502" });
});
