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
