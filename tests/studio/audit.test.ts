// If this file fails, an operator does not see who changed a row or what is not delivered, or Studio shows values that the user
// whose view it takes does not see.
import { beforeAll, expect, test } from "vitest";
import { webhooksFile } from "../../src/webhooks/webhooks-sql.ts";
import { database } from "../support/database.ts";
import { noteDone } from "../webhooks/definitions.ts";
import { studio } from "./test-studio.ts";

const db = database();
const opened = studio(db);
const ask = (input: object) =>
  opened.ask("audit", { table: null, key: null, row: null, as: null, before: null, ...input });

beforeAll(async () => {
  await db.sql(`set role svc_owner; create table seats (at timestamptz, seat int, guest text, primary key (at, seat));
    reset role`);
  await db.sql(`set role svc_owner;
    select svc_private.install_history('[{"table": "public.notes", "keys": ["id"], "omit": ["priority"]},
      {"table": "public.seats", "keys": ["seat", "at"], "omit": []}]'); ${webhooksFile([noteDone["~svc"].webhook])}; reset role`);
  await db.sql(
    `insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test'), ('ben', 'Ben', 'ben@x.test')`,
  );
  await db.sql("insert into notes (id, user_id, title) values (1, 'ann', 'boat'), (2, 'ben', 'oar')");
  await db.sql(`begin; select set_config('svc.request_id', 'r1', true), set_config('svc.user_id', 'ann', true);
    update notes set title = repeat('long ', 200), priority = 7 where id = 1; commit`);
});

test("who changed a row, when, by which way and which columns; values only as a user who sees the row", async () => {
  const row = { table: "public.notes", key: ["1"] };
  const { entries, next } = await ask({ ...row, as: "ann" });
  expect(next).toBeNull();
  expect(entries).toMatchObject([
    { operation: "update", actor: "ann", request: "r1", login: expect.any(String), at: expect.any(String) },
    { operation: "insert", actor: null, request: null },
  ]);
  expect(entries[0].columns.sort()).toEqual(["priority", "title"]);
  expect(entries[0].changed).toEqual({ priority: null, title: ["boat", "long ".repeat(80)] });
  for (const as of ["ben", null]) {
    const other = await ask({ ...row, as });
    expect(other.entries.map(({ changed }: { changed: unknown }) => changed)).toEqual([null, null]);
    expect(JSON.stringify(other)).not.toMatch(/boat|long/);
  }
});

test("all tables, and rows that were removed, page by page and without values", async () => {
  await db.sql("insert into notes (id, user_id, title) select n, 'ann', 'many' from generate_series(100, 160) n");
  await db.sql("delete from notes where id >= 100");
  const first = await ask({ as: "ann" });
  expect(first.entries).toHaveLength(50);
  const second = await ask({ as: "ann", before: first.next });
  expect(Number(second.entries[0].id)).toBeLessThan(Number(first.entries.at(-1).id));
  expect(JSON.stringify([first, second])).not.toContain("many");
  const removed = await ask({ table: "public.notes", row: "100", as: "ann" });
  expect(removed.entries.map(({ operation }: { operation: string }) => operation)).toEqual(["delete", "insert"]);
  expect((await ask({ table: "public.notes", key: ["100"], as: "ann" })).entries).toHaveLength(2);
});

test("a table that was renamed, and one that was dropped, keep their entries", async () => {
  await db.sql("set role svc_owner; alter table notes rename to papers; reset role");
  try {
    const { entries } = await ask({ table: "public.papers", key: ["1"], as: "ann" });
    expect(entries[0]).toMatchObject({ relation: "public.papers", changed: { title: ["boat", expect.any(String)] } });
  } finally {
    await db.sql("set role svc_owner; alter table papers rename to notes; reset role");
  }
  await db.sql(`set role svc_owner; create table gone (id int primary key);
    select svc_private.install_history('[{"table": "public.gone", "keys": ["id"], "omit": []}]', 'test');
    insert into gone values (1); drop table gone; reset role`);
  expect((await ask({ table: "public.gone", row: "1" })).entries).toMatchObject([{ audited: false, changed: null }]);
});

test("a key of several columns, in another order and of times, finds its entries", async () => {
  await db.sql("insert into seats values ('2026-01-01 10:00+02', 7, 'ann')");
  const { rows } = await opened.ask("rows", { table: "public.seats", as: "ann", ghosts: true });
  const key = rows[0]?.key ?? ["2026-01-01 08:00:00+00", "7"];
  expect(await ask({ table: "public.seats", key })).toMatchObject({
    row: '[7, "2026-01-01T08:00:00+00:00"]',
    entries: [{}],
  });
  expect((await ask({ table: "public.seats", key: [key[0], "8"] })).entries).toEqual([]);
  expect((await ask({ table: "auth.user", key: ["ann"] })).entries).toEqual([]);
});

test("webhooks, and their deliveries by state and page, without bodies", async () => {
  await db.sql(`insert into svc.webhook_deliveries (webhook, source, endpoint, row_key, body, state, last_error, ended_at)
    select case when n % 2 = 0 then 'note.done' else 'gone' end, 'env', 'DONE_HOOK', n::text, 'private', s,
           repeat('x', 1000), case when s = 'dead' then now() end
      from generate_series(1, 60) n, unnest(array['dead', 'pending']) s`);
  await db.sql("insert into svc_private.webhook_leases values ('env', 'DONE_HOOK', null, now() + interval '1 hour')");
  expect(await opened.ask("webhooks", {})).toEqual({
    webhooks: [
      {
        name: "note.done",
        table: "public.notes",
        when: ["update"],
        receiver: "DONE_HOOK",
        isEnv: true,
        isProcedure: false,
      },
    ],
    pending: 60,
    dead: 60,
  });
  for (const state of ["dead", "pending"]) {
    const first = await opened.ask("deliveries", { state, webhook: null, before: null });
    const second = await opened.ask("deliveries", { state, webhook: null, before: first.next });
    expect([...first.deliveries, ...second.deliveries].map(({ row_key }) => Number(row_key))).toEqual(
      Array.from({ length: 60 }, (_, n) => 60 - n),
    );
    expect(second.next).toBeNull();
    expect(first.deliveries[0].last_error).toHaveLength(500);
    expect(first.deliveries[0].waits_until === null).toBe(state === "dead");
    expect(JSON.stringify(first)).not.toContain("private");
  }
  const some = await opened.ask("deliveries", { state: "dead", webhook: "note.done", before: null });
  expect(some.deliveries).toHaveLength(30);
});
