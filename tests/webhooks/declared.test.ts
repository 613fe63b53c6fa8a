// If this file fails, a webhook that cannot work is found out by its receiver, or one that was removed is still sent.
import { boolean, integer, json, pgEnum, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { describe, expect, inject, test } from "vitest";
import { defineApi, webhook } from "../../src/index.ts";
import { webhooksFile } from "../../src/webhooks/webhooks-sql.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database, waitsForLock } from "../support/database.ts";
import { until } from "../support/worker.ts";
import { endpoints, noteDone } from "./definitions.ts";

const db = database();
const declare = (bag: Parameters<typeof defineApi>[0]["webhooks"] = {}) =>
  db.sql(`set role svc_owner; ${webhooksFile(defineApi({ webhooks: bag })["~svc"].webhooks)}; reset role`);
const triggers = async (table = "notes") =>
  (
    await db.sql<{ name: string }>(
      `select tgname::text as name from pg_trigger where tgrelid = $1::regclass and tgname like '\\_svc_webhook%' order by 1`,
      [table],
    )
  ).map(({ name }) => name);

const rest = { on: notes, when: "insert", columns: ["id"], to: { env: "A_HOOK" } } as const;
// biome-ignore lint/suspicious/noExplicitAny: mistakes, which the types refuse
type Any = any;
const keyless = pgTable("keyless", { userId: text("user_id") });
const tides = pgTable("tides", { id: integer("id").primaryKey(), at: pgEnum("tide", ["high", "low"])("at") });
const noSecret = pgTable("plain", { id: uuid("id").primaryKey(), userId: text("user_id"), url: text("url") });

describe("a definition that cannot work is an error that names the remedy", () => {
  test.for<[string, Any, string | RegExp]>([
    ["a name with a blank", { ...rest, name: "a b" }, /name.*1 to 40 letters/],
    ["no columns", { ...rest, name: "a", columns: [] }, /columns.*the columns that leave/],
    ["an unknown column", { ...rest, name: "a", columns: ["titel"] }, /no column "titel".\s+Did you mean "title"\?/],
    ["an unknown event", { ...rest, name: "a", when: "upsert" }, /when.*"insert", "update" or "delete"/],
    ["a variable with another end", { ...rest, name: "a", to: { env: "A_URL" } }, /ends with HOOK/],
    ["a value that no row has", { ...rest, name: "a", on: tides, filter: { at: "up" } }, /"up".\s+.*high, low/],
    ["an unknown option", { ...rest, name: "a", timeout: 1 }, /timeout/],
    ["a table without a key", { ...rest, name: "a", on: keyless, columns: ["userId"] }, /keyless has no primary key/],
    [
      "endpoints without a secret",
      { ...rest, name: "a", to: { endpoints: noSecret, owner: "userId" } },
      /plain needs a column "secret".\s+Add text\("secret"\)/,
    ],
    [
      "events that are no array",
      { ...rest, name: "a", to: { endpoints, owner: "userId", events: "url" } },
      /endpoints.url is not an array of texts/,
    ],
  ])("%s", ([, options, message]) => {
    expect(() => webhook(options)).toThrow(message);
  });

  test("null is a value that a row may have", () =>
    void webhook({ ...rest, name: "a", on: tides, filter: { at: null } }));

  test("two with one name, and what is no webhook", () => {
    const twin = webhook({ ...rest, name: "note.done" });
    expect(() => defineApi({ webhooks: { noteDone, twin } })).toThrow('Two webhooks are named "note.done"');
    expect(() => defineApi({ webhooks: { one: {} as never } })).toThrow("webhooks.one is not a webhook.");
  });
});

test("a declaration makes its triggers once, and its end removes them and what was not sent", async () => {
  await db.sql(
    `insert into auth."user" (id, name, email, email_verified) values ('ann', 'Ann', 'a@example.com', true)`,
  );
  const both = { noteDone, noteChanged: webhook({ ...rest, name: "note-changed", when: ["delete", "insert"] }) };
  await declare(both);
  const made = [
    "_svc_webhook_note-changed_delete",
    "_svc_webhook_note-changed_insert",
    "_svc_webhook_note.done_update",
  ];
  expect(await triggers()).toEqual(made);
  await db.sql("insert into notes (user_id, title) values ('ann', 'boat'), ('ann', 'crane')");

  // An unchanged one locks nothing: another transaction has the table.
  const writer = await db.connect("admin");
  await writer.query("begin; lock table notes in row exclusive mode");
  await db.sql("set lock_timeout = '1ms'");
  await declare(both);
  await db.sql("reset lock_timeout");
  await writer.query("rollback");

  await declare({ noteDone });
  expect(await triggers()).toEqual(["_svc_webhook_note.done_update"]);
  const dead = { state: "dead", last_error: "The webhook is no longer declared." };
  expect(await db.sql("select state, last_error from svc.webhook_deliveries")).toEqual([dead, dead]);
  await declare();
  expect(await triggers()).toEqual([]);
  expect(await db.sql("select from pg_proc where proname like 'webhook %'")).toEqual([]);
});

test("what a worker claims while a migration ends its webhook is not sent", async () => {
  await declare({ noteChanged: webhook({ ...rest, name: "note-changed" }) });
  await db.sql("insert into notes (user_id, title) values ('ann', 'dove')");
  const [migrator, worker] = [await db.connect("admin"), await db.connect("system")];
  await migrator.query("begin; set local role svc_owner; select svc_private.install_webhooks('[]')");
  const claim = worker.query("select * from svc_private.claim_deliveries(10, '1 minute')");
  await Promise.race([claim, until(async () => (await db.sql(waitsForLock)).length > 0)]);
  await migrator.query("commit");
  expect((await claim).rows).toEqual([]);
});

test("a changed declaration, and a table that was made anew, get new triggers", async () => {
  await declare({ noteDone });
  await declare({ noteDone: webhook({ ...rest, name: "note.done", filter: { title: "x' or new.title = 'y" } }) });
  expect(await triggers()).toEqual(["_svc_webhook_note.done_insert"]);
  await db.sql("insert into notes (user_id, title) values ('ann', 'y')");
  await db.sql(`insert into notes (user_id, title) values ('ann', 'x'' or new.title = ''y')`);
  expect(await db.sql("select endpoint from svc.webhook_deliveries where webhook = 'note.done'")).toHaveLength(1);

  const docks = pgTable("docks", { a: integer("a"), b: text("b"), doc: json("doc") }, (t) => [
    primaryKey({ columns: [t.a, t.b] }),
  ]);
  const dock = webhook({
    name: "dock",
    on: docks,
    when: ["insert", "update"],
    filter: { b: null },
    columns: ["doc"],
    to: { env: "A_HOOK" },
  });
  const two = webhook({ name: "two", on: docks, when: "update", columns: ["doc"], to: { env: "A_HOOK" } });
  const create =
    "drop table if exists docks; create table docks (a integer, b text, doc json); alter table docks owner to svc_owner";
  for (const _ of [1, 2]) {
    await db.sql(create);
    await declare({ dock, two });
    expect(await triggers("docks")).toHaveLength(3);
  }
  await db.sql(`insert into docks values (1, 'b', '{}'), (2, null, '{"x": 1}')`);
  await db.sql(`update docks set doc = '{"y": 2}' where a = 1; update docks set b = 'c' where a = 1`);
  const sent = await db.sql<{ row_key: string; body: string }>(
    "select row_key, body from svc.webhook_deliveries where row_key like '%docks%' order by sequence",
  );
  expect(sent.map(({ row_key, body }) => [row_key, JSON.parse(body).data])).toEqual([
    ['"public"."docks" [2, null]', { doc: { x: 1 } }],
    ['"public"."docks" [1, "b"]', { doc: { y: 2 } }],
  ]);
});

test("a filter compares a type of an extension as the type does", async ({ skip }) => {
  const created = await db.sql("create extension if not exists citext schema extensions").catch((error) => {
    if (error.code !== "0A000" && error.code !== "58P01") throw error; // a server without contrib
  });
  skip(!created, "this server has no citext");
  await db.sql(`create domain word as extensions.citext;
    create table berths (id integer primary key, name extensions.citext, kind word); alter table berths owner to svc_owner`);
  const berths = pgTable("berths", { id: integer("id").primaryKey(), name: text("name"), kind: text("kind") });
  const filter = { name: "Quay", kind: "Wet" };
  await declare({ berth: webhook({ ...rest, on: berths, name: "berth", filter }) });
  await db.sql("insert into berths values (1, 'quay', 'wet'), (2, 'quay', 'dry'), (3, 'pier', 'wet')");
  const sent = await db.sql("select row_key from svc.webhook_deliveries where webhook = 'berth'");
  expect(sent).toEqual([{ row_key: '"public"."berths" [1]' }]);
});

test("an owner of a type of an extension is compared as the type does", async ({ skip }) => {
  const created = await db.sql("create extension if not exists citext schema extensions").catch((error) => {
    if (error.code !== "0A000" && error.code !== "58P01") throw error; // a server without contrib
  });
  skip(!created, "this server has no citext");
  await db.sql(`create table moles (id integer primary key, team extensions.citext);
    create table listeners (id integer primary key, team extensions.citext, url text, secret text, enabled boolean);
    alter table moles owner to svc_owner; alter table listeners owner to svc_owner;
    insert into listeners values (1, 'Crew', 'https://example.com', '', true), (2, 'Others', 'https://example.com', '', true)`);
  const moles = pgTable("moles", { id: integer("id").primaryKey(), team: text("team") });
  const listeners = pgTable("listeners", {
    ...{ id: integer("id").primaryKey(), team: text("team"), url: text("url"), secret: text("secret") },
    enabled: boolean("enabled"),
  });
  const to = { endpoints: listeners, owner: "team" } as const;
  await declare({ mole: webhook({ ...rest, on: moles, name: "mole", to }) });
  await db.sql("insert into moles values (1, 'crew')");
  const noted = () => db.sql("select endpoint, state from svc.webhook_deliveries where webhook = 'mole'");
  expect(await noted()).toEqual([{ endpoint: "1", state: "pending" }]);
  await db.sql("update listeners set team = 'CREW'; select svc_private.claim_deliveries(10, '1 minute')");
  expect(await noted()).toEqual([{ endpoint: "1", state: "pending" }]);
  await declare();
});

test("an owner of two types, or an endpoint without its table, is refused before any row is written", async () => {
  const strangers = pgTable("strangers", {
    id: integer("id").primaryKey(),
    url: text("url"),
    secret: text("secret"),
    enabled: boolean("enabled"),
    owner: integer("owner"),
  });
  const to = { endpoints: strangers, owner: { row: "userId", endpoint: "owner" } } as const;
  const one = webhook({ name: "strange", on: notes, when: "insert", columns: ["id"], to });
  await expect(declare({ one })).rejects.toThrow('relation "public.strangers" does not exist');
  await db.sql(
    "create table strangers (id integer primary key, url text, secret text, enabled boolean, owner integer)",
  );
  await expect(declare({ one })).rejects.toThrow("operator does not exist: integer = text");
  await db.sql("insert into notes (user_id, title) values ('ann', 'boat')");
});

test("rows of partitions are told once", async () => {
  await db.sql(`create table quays (id integer, at date not null, primary key (id, at)) partition by range (at);
    create table quays_26 partition of quays for values from ('2026-01-01') to ('2027-01-01');
    alter table quays owner to svc_owner; alter table quays_26 owner to svc_owner`);
  const quays = pgTable("quays", { id: integer("id"), at: text("at") }, (t) => [primaryKey({ columns: [t.id, t.at] })]);
  const quay = webhook({ name: "quay", on: quays, when: "insert", columns: ["id"], to: { env: "A_HOOK" } });
  await declare({ quay });
  await declare({ quay });
  await db.sql("insert into quays values (1, '2026-05-05')");
  expect(await db.sql("select from svc.webhook_deliveries where webhook = 'quay'")).toHaveLength(1);
  await declare();
});

test("a partition with its columns in another order tells them under their names", async () => {
  await db.sql(`create table sheds (id integer, title text, body text) partition by list (id);
    create table sheds_1 (body text, id integer, title text);
    alter table sheds attach partition sheds_1 for values in (1);
    create table sheds_2 partition of sheds for values in (2);
    alter table sheds add primary key (id); alter table sheds owner to svc_owner; alter table sheds_1 owner to svc_owner;
    alter table sheds_2 owner to svc_owner`);
  const sheds = pgTable("sheds", { id: integer("id").primaryKey(), title: text("title"), body: text("body") });
  const columns = ["title", "body"] as const;
  const one = webhook({ name: "shed", on: sheds, when: ["insert", "delete"], columns, to: { env: "A_HOOK" } });
  await declare({ one });
  await db.sql("insert into sheds values (1, 'title', 'body'), (2, 'title', 'body'); delete from sheds");
  const told = await db.sql("select body::json -> 'data' as data from svc.webhook_deliveries where webhook = 'shed'");
  expect(told).toEqual(Array.from({ length: 4 }, () => ({ data: { title: "title", body: "body" } })));
  await declare();
});

test("columns may have the names of what a trigger function knows", async () => {
  await db.sql(`create table logs (id integer primary key, tg_op integer, changed text, noted text, new text, old text);
    alter table logs owner to svc_owner`);
  const logs = pgTable("logs", { id: integer("id").primaryKey(), tgOp: integer("tg_op"), changed: text("changed") });
  const columns = ["tgOp", "changed"] as const;
  const one = webhook({ name: "log", on: logs, when: ["insert", "update", "delete"], columns, to: { env: "A_HOOK" } });
  await declare({ one });
  await db.sql("insert into logs values (1, 5, 'a', 'b', 'c', 'd'); update logs set tg_op = 6; delete from logs");
  const told = await db.sql(`select body::json ->> 'operation' as operation, body::json #>> '{data,tgOp}' as tg_op
    from svc.webhook_deliveries where webhook = 'log' order by sequence`);
  expect(told.map((each) => Object.values(each))).toEqual([
    ["insert", "5"],
    ["update", "6"],
    ["delete", "6"],
  ]);
  await declare();
});

test("a column that gets another type is told at once by connections that wrote before", async () => {
  await db.sql("create table bins (id integer primary key, size integer); alter table bins owner to svc_owner");
  const bins = pgTable("bins", { id: integer("id").primaryKey(), size: integer("size") });
  const one = webhook({ name: "bin", on: bins, when: "insert", columns: ["size"], to: { env: "A_HOOK" } });
  await declare({ one });
  const writer = await db.connect("admin");
  await writer.query("insert into bins values (1, 1)");
  await db.sql("alter table bins alter column size type text");
  await writer.query("insert into bins values (2, '2')");
  await declare();
});

test("a table from which another one inherits is refused: PostgreSQL fires no triggers for the rows of that", async () => {
  await db.sql(`create table cranes (id integer primary key); alter table cranes owner to svc_owner;
    create table broken_cranes () inherits (cranes); alter table broken_cranes owner to svc_owner`);
  const cranes = pgTable("cranes", { id: integer("id").primaryKey() });
  const one = webhook({ name: "crane", on: cranes, when: "update", columns: ["id"], to: { env: "A_HOOK" } });
  await expect(declare({ one })).rejects.toThrow("broken_cranes inherits from");
});

test.skipIf(Number.parseInt(inject("serverVersion"), 10) < 18)("a virtual generated column is refused", async () => {
  await db.sql(
    "create table loud (id integer primary key, body text, shout text generated always as (upper(body)));" +
      "alter table loud owner to svc_owner",
  );
  const loud = pgTable("loud", { id: integer("id").primaryKey(), shout: text("shout") });
  const one = webhook({ name: "loud", on: loud, when: "insert", columns: ["shout"], to: { env: "A_HOOK" } });
  await expect(declare({ one })).rejects.toThrow("a webhook cannot read the virtual generated column shout");
});

test("nobody but the owner makes a trigger that runs a declaration, or changes deliveries", async () => {
  await declare({ noteDone });
  const system = await db.connect("system");
  const [may] = await db.sql(
    `select has_function_privilege('svc_system', 'svc_private."webhook note.done"()', 'execute') as it`,
  );
  expect(may).toEqual({ it: false });
  const denied = { code: "42501" };
  for (const text of [
    "insert into svc.webhook_deliveries (webhook, source, endpoint, row_key, body) values ('a', 'env', 'A', 'a', 'a')",
    "update svc.webhook_deliveries set body = 'a'",
    "delete from svc.webhook_deliveries",
    "select from svc_private.webhook_leases",
    `select svc_private.find_endpoint('public.endpoints', 'a')`,
  ]) {
    await expect(system.query(text), text).rejects.toMatchObject(denied);
  }
  const request = await db.connect("request");
  for (const role of ["svc_anonymous", "svc_authenticated"]) {
    await request.query(`set role ${role}`);
    await expect(request.query("select from svc.webhook_deliveries")).rejects.toMatchObject(denied);
  }
});
