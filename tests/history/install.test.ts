// If this file fails, a declaration of audited() has no effect in the database, a dropped one still has one, or a renamed table
// loses its history.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { audited, createCrudFactory, createSvcProcedureBuilders, ownerRls } from "@svc/core";
import { pgTable, serial, text } from "drizzle-orm/pg-core";
import { beforeAll, expect, test } from "vitest";
import { auditedTable } from "../../src/history/audited.ts";
import { historyFile } from "../../src/history/history-sql.ts";
import { compareFacts, type Fact } from "../../src/migrate/drift.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { migrationsOf } from "../codegen/evolution.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database("platform");
beforeAll(() => db.sql("create table public.orders (id integer primary key, title text, iban text)"));

const declared = (table: string, omit: string[] = []) => ({ table, keys: ["id"], omit });
const install = (...tables: object[]) => db.sql("select svc_private.install_history($1)", [JSON.stringify(tables)]);
const triggers = async (table: string) =>
  (
    await db.sql<{ name: string }>(
      `select tgname as name from pg_trigger where tgrelid = $1::regclass and tgname like '\\_svc_history%' order by 1`,
      [table],
    )
  ).map(({ name }) => name);
const entries = (table: string, id: number) =>
  db.sql("select operation, changed from svc.row_history($1, $2) order by id", [table, String(id)]);
const both = ["_svc_history", "_svc_history_truncate"];

test("a table gets its triggers, again changes nothing, and waits for no writer", async () => {
  await install(declared("public.orders"));
  expect(await triggers("orders")).toEqual(both);
  const other = await db.connect("admin");
  await other.query("begin; insert into public.orders values (1, 'a')");
  await db.sql("set lock_timeout = '1ms'");
  await install(declared("public.orders"));
  await db.sql("reset lock_timeout");
  await other.query("commit");
  expect(await entries("public.orders", 1)).toHaveLength(1);
});

test("another list of omitted columns takes effect, and a trigger that is off is on again", async () => {
  await install(declared("public.orders", ["iban", "Ä"]));
  await db.sql("insert into public.orders values (2, 'a', 'DE02')");
  expect((await entries("public.orders", 2))[0]?.changed).toMatchObject({ iban: null, title: [null, "a"] });
  await db.sql("alter table public.orders disable trigger _svc_history");
  await install(declared("public.orders", ["iban", "Ä"]));
  await db.sql("update public.orders set title = 'b' where id = 2");
  expect(await entries("public.orders", 2)).toHaveLength(2);
});

test("triggers that an earlier version of svc has named get their names", async () => {
  for (const name of both) await db.sql(`alter trigger ${name} on public.orders rename to ${name.slice(1)}`);
  await db.sql(await readFile(join(root, "migrations/0070_rename_triggers.sql"), "utf8"));
  expect(await triggers("orders")).toEqual(both);
});

test("a renamed table keeps its history", async () => {
  await db.sql("alter table public.orders rename to sales");
  await install(declared("public.sales"));
  await db.sql("update public.sales set title = 'c' where id = 2");
  expect(await entries("public.sales", 2)).toHaveLength(3);
  expect(
    await db.sql("select distinct relation from svc_private.list_history(null, '2', null, null, null, 9)"),
  ).toEqual([{ relation: "public.sales" }]);
});

test("a table that takes the name of another, or is made anew, does not show entries of the former", async () => {
  await db.sql("create table public.orders (id integer primary key, title text, iban text)");
  await install(declared("public.sales"), declared("public.orders"));
  await db.sql("insert into public.orders values (2, 'new')");
  expect(await entries("public.orders", 2)).toHaveLength(1);
  await db.sql("drop table public.orders");
  await db.sql("create table public.orders (id integer primary key, title text, iban text)");
  await db.sql("insert into public.orders values (2, 'unnoted')");
  await install(declared("public.sales"), declared("public.orders"));
  expect(await entries("public.orders", 2)).toEqual([]);
  expect(await entries("public.sales", 2)).toHaveLength(3);
});

test("a table keeps its history when pg_restore gives it another number", async () => {
  await db.sql(
    "update svc_private.history_tables set relation = relation::bigint + 1000000 where relation is not null",
  );
  await install(declared("public.sales"), declared("public.orders"));
  expect(await entries("public.sales", 2)).toHaveLength(3);
});

test("a dropped declaration removes the triggers; operators still see the entries, and a new one begins anew", async () => {
  await install(declared("public.orders"));
  expect(await triggers("sales")).toEqual([]);
  await expect(entries("public.sales", 2)).rejects.toMatchObject({ code: "55000" });
  expect(await db.sql("select from svc_private.list_history('public.sales', '2', null, null, null, 9)")).toHaveLength(
    3,
  );
  await install(declared("public.sales"));
  expect(await triggers("orders")).toEqual([]);
  expect(await entries("public.sales", 2)).toEqual([]);
  await install();
  expect(await triggers("sales")).toEqual([]);
});

test("svc db drift tells of missing triggers, and of no numbers and months", async () => {
  const facts = () =>
    db.sql<Fact & Record<string, unknown>>("select object, kind, part, definition from svc_private.list_facts()");
  const before = await facts();
  await install(declared("public.orders"));
  const expected = await facts();
  await install();
  await install(declared("public.orders")); // with another number
  await db.sql(
    "drop table svc_private.history_" +
      (await db.sql("select to_char(now() + interval '2 months', 'YYYY_MM') as m"))[0]?.m,
  );
  expect(compareFacts(expected, await facts())).toEqual([]);
  expect(
    compareFacts(expected, before)
      .map(({ state, kind, part }) => `${state} ${kind} ${part}`)
      .sort(),
  ).toEqual(["missing trigger _svc_history", "missing trigger _svc_history_truncate"]);
});

test("what an administrator makes by hand belongs to svc_owner, and the next svc migrate changes it", async () => {
  const months =
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'svc_private.history_entries'::regclass";
  for (const { name } of await db.sql(months)) await db.sql(`drop table ${name}`);
  await db.sql("select svc_private.make_history_default()");
  const webhook = {
    name: "sold",
    table: "public.orders",
    key: ["id"],
    columns: ["id"],
    data: "t.id",
    when: ["insert"],
  };
  await db.sql("select svc_private.install_webhooks($1)", [JSON.stringify([{ ...webhook, env: "A_HOOK" }])]);
  await install(declared("public.orders"));
  expect(await db.sql(months)).toHaveLength(4);
  await migrate({ adminUrl: db.url("admin"), platform: root, again: true });
  expect(await db.sql("select proowner::regrole::text as owner from pg_proc where proname = 'webhook sold'")).toEqual([
    { owner: "svc_owner" },
  ]);
  await db.sql("select svc_private.install_webhooks('[]')");
  await install();
});

const columns = { id: serial("id").primaryKey(), userId: text("user_id").notNull(), iban: text("iban") };

test("a table that inherits from an audited one is refused, unless it is audited, too", async () => {
  await db.sql(`create table public.bills (id integer primary key); create table public.paid (primary key (id)) inherits (public.bills);
    alter table public.bills owner to svc_owner; alter table public.paid owner to svc_owner`);
  await expect(install(declared("public.bills"))).rejects.toThrow("paid inherits from public.bills, which is audited");
  await install(declared("public.bills"), declared("public.paid"));
  await db.sql("insert into public.paid values (1); update public.bills set id = 2");
  expect((await entries("public.paid", 2)).map(({ operation }) => operation)).toEqual(["update"]);
  await install();
});

test("the declaration is in the generated file, and in no migration", async () => {
  const plain = pgTable("bills", columns, (t) => ownerRls(t.userId));
  const bills = pgTable("bills", columns, (t) => [...ownerRls(t.userId), ...audited({ omit: [t.iban] })]);
  expect(await migrationsOf({ schema: { bills } })).toEqual(await migrationsOf({ schema: { bills: plain } }));
  expect(auditedTable(plain)).toBeNull();
  const found = auditedTable(bills);
  expect(found).toEqual({ name: "public.bills", keys: ["id"], omit: ["iban"] });
  expect(historyFile(found ? [found] : [])).toContain('{"table":"public.bills","keys":["id"],"omit":["iban"]}');
});

test.for<[string, RegExp, () => unknown]>([
  ["no key", /bills has no primary key/, () => auditedTable(pgTable("bills", { a: text() }, () => audited()))],
  [
    "its key omitted",
    /omits "id", which is part of its key/,
    () => auditedTable(pgTable("bills", columns, (t) => audited({ omit: [t.id] }))),
  ],
  [
    "two declarations",
    /declared twice/,
    () => auditedTable(pgTable("bills", columns, () => [...audited(), ...audited()])),
  ],
  [
    "another table's column",
    /a column of another table/,
    () => {
      const other = pgTable("others", columns);
      return auditedTable(pgTable("bills", columns, () => audited({ omit: [other.iban] })));
    },
  ],
  [
    "a text for a column",
    /must be a column of the table/,
    () => auditedTable(pgTable("bills", columns, () => audited({ omit: ["iban"] as never }))),
  ],
  [
    "history of a table that is not audited",
    /history needs a table that is audited/,
    () =>
      createCrud(
        pgTable("bills", columns, (t) => ownerRls(t.userId)),
        { history: true },
      ),
  ],
  [
    "history without get",
    /history of "bills" needs methods with get/,
    () => createCrud(bills(), { history: true, methods: ["list"] }),
  ],
])("%s is refused", ([, message, act]) => expect(act).toThrow(message));

const bills = () => pgTable("bills", columns, (t) => [...ownerRls(t.userId), ...audited()]);
const createCrud = createCrudFactory(createSvcProcedureBuilders());
