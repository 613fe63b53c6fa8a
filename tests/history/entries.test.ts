// If this file fails, a change of an audited table leaves no entry, one that never happened leaves one, or an entry says the
// wrong thing about who changed what.
import { afterAll, beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { TestService, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";
import { api, installAll, schema } from "./application.ts";

const db = database();
const app = new TestService(db, api, {}, schema);
const worker = workers(db, api);
let ann: User;
beforeAll(async () => {
  await installAll(db);
  await app.start();
  ann = await app.signUp("ann");
});
afterAll(() => app.stop());

const entries = (id: string) =>
  db.sql(
    `select operation, actor, login, via, request, changed from svc_private.history_entries where row_id = $1 order by id`,
    [id],
  );
const last = async (id: string) => (await entries(id)).at(-1);
const created = async (row: object) =>
  (await app.mutate(ann, "invoices.create", { title: "Hail", ...row })).body.json.id;
const login = (name: "request" | "system" | "admin") => new URL(db.url(name)).username;

test("calls, handlers and statements of an administrator leave one entry a row, with the change and who made it", async () => {
  const id = await created({ note: "new" });
  await app.mutate(ann, "invoices.update", { id, title: "Wind" });
  await app.mutate(ann, "invoices.rename", { id, title: "Storm" });
  await db.sql("update invoices set note = null where id = $1", [id]);
  await db.sql("delete from invoices where id = $1", [id]);
  const call = { actor: ann.id, login: login("request"), via: "svc request", request: expect.stringMatching(/.{8}/) };
  const psql = { actor: null, login: login("admin"), via: null, request: null };
  const given = { id: [null, id], user_id: [null, ann.id], title: [null, "Hail"], note: [null, "new"] };
  const times = { created_at: [null, expect.any(String)], updated_at: [null, expect.any(String)] };
  expect(await entries(id)).toEqual([
    { ...call, operation: "insert", changed: { ...given, ...times } },
    {
      ...call,
      operation: "update",
      changed: { title: ["Hail", "Wind"], updated_at: [expect.any(String), expect.any(String)] },
    },
    { ...call, operation: "update", changed: { title: ["Wind", "Storm"] } },
    { ...psql, operation: "update", changed: { note: ["new", null] } },
    { ...psql, operation: "delete", changed: expect.objectContaining({ title: ["Storm", null] }) },
  ]);
  expect((await last(id))?.changed).not.toHaveProperty("note");
});

test("the id of the request is that of its answer", async () => {
  const id = await created({});
  const headers = {
    "x-request-id": "request-7",
    "content-type": "application/json",
    authorization: `Bearer ${ann.token}`,
  };
  for (const [name, title] of [
    ["invoices.update", "Wind"],
    ["invoices.rename", "Storm"],
  ]) {
    const body = JSON.stringify({ name, args: { id, title } });
    await fetch(`${app.url}/api/mutation`, { method: "POST", headers, body });
    expect(await last(id)).toMatchObject({ request: "request-7", actor: ann.id });
  }
  await db.sql("update invoices set note = 'x' where id = $1", [id]);
  expect(await last(id)).toMatchObject({ request: null });
});

test("a job changes rows as the user who scheduled it, or as the system, and a run as its user", async () => {
  const id = await created({});
  const running = await worker();
  await app.mutate(ann, "invoices.later", { id, title: "Job" });
  await until(async () => (await last(id))?.operation === "update");
  expect(await last(id)).toMatchObject({ actor: ann.id, login: login("request"), changed: { title: ["Hail", "Job"] } });
  const args = JSON.stringify({ id, title: "System" });
  const [{ job } = { job: "" }] = await db.sql<{ job: string }>(
    `select svc_private.add_procedure_job('{"kind": "system"}', 'invoices.system', $1::json, now(), null)::text as job`,
    [args],
  );
  await until(async () => (await entries(id)).length === 3);
  expect(await last(id)).toMatchObject({ actor: null, login: login("system"), request: `job:${job}` });
  const run = (await app.mutate(ann, "invoices.start", { id, title: "Run" })).body.json.id;
  await until(async () => (await entries(id)).length === 4);
  expect(await last(id)).toMatchObject({ actor: ann.id, login: login("request"), request: `run:${run}` });
  await running.stop();
});

test("what is rolled back leaves no entry, nor does an update that changes nothing", async () => {
  const id = await created({ extra: { a: 1 } });
  expect((await app.mutate(ann, "invoices.rename", { id, title: "refused" })).status).toBe(500);
  await db.sql("update invoices set title = title, extra = '{ \"a\" : 1 }' where id = $1", [id]);
  expect(await entries(id)).toHaveLength(1);
});

test("an omitted value and one of more than 16 KiB are not kept; that they changed is", async () => {
  const id = await created({ iban: "DE02", note: "short" });
  expect((await last(id))?.changed).toMatchObject({ iban: null, note: [null, "short"] });
  await app.mutate(ann, "invoices.update", { id, iban: "DE99", note: "x".repeat(17_000) });
  expect((await last(id))?.changed).toMatchObject({ iban: null, note: null });
  await app.mutate(ann, "invoices.update", { id, title: "Wind" });
  expect(Object.keys((await last(id))?.changed).sort()).toEqual(["title", "updated_at"]);
  expect(JSON.stringify(await entries(id))).not.toMatch(/DE02|DE99|xxx/);
});

test("COPY, an update of many rows, an upsert and a cascade are noted row by row; TRUNCATE once", async () => {
  await db.sql("insert into slugs select 'n' || n, 'a' from generate_series(1, 100) as n");
  await db.sql("update slugs set owner = 'b'");
  await db.sql("insert into slugs values ('n1', 'c') on conflict (id) do update set owner = excluded.owner");
  const count = async () =>
    db.sql(
      "select operation, count(*)::integer, count(distinct row_id)::integer as rows from svc_private.history_entries where table_id = (select id from svc_private.history_tables where name = 'public.slugs') group by 1 order by 1",
    );
  expect(await count()).toEqual([
    { operation: "insert", count: 100, rows: 100 },
    { operation: "update", count: 101, rows: 100 },
  ]);
  await db.sql("truncate slugs");
  expect(await db.sql("select row_id, changed from svc_private.history_entries where operation = 'truncate'")).toEqual([
    { row_id: null, changed: {} },
  ]);
});

test("an entry does not depend on the session's time zone, and names a row by all columns of its key", async () => {
  const client = await db.connect("admin");
  await client.query("set timezone = 'Asia/Tokyo'");
  const text =
    "insert into invoices (user_id, title, created_at) values ('x', 'x', '2026-01-01T00:00:00Z') returning id";
  const { rows } = await client.query(text);
  expect((await last(rows[0].id))?.changed.created_at).toEqual([null, "2026-01-01T00:00:00+00:00"]);
  await db.sql("insert into seats values ('A', 7, 'ann')");
  await db.sql("update seats set place = 8");
  const noted = "select row_id, begins, changed from svc_private.history_entries where row_id like '[%' order by id";
  expect(await db.sql(noted)).toEqual([
    { row_id: '["A", 7]', begins: true, changed: { row: [null, "A"], place: [null, 7], guest: [null, "ann"] } },
    { row_id: '["A", 8]', begins: true, changed: { place: [7, 8] } },
  ]);
});

test("a setting of the session hides no change of a number", async () => {
  const id = await created({ share: 1_000_000 });
  const client = await db.connect("admin");
  await client.query("set extra_float_digits = -15");
  await client.query("update invoices set share = 1400000 where id = $1", [id]);
  expect((await last(id))?.changed).toMatchObject({ share: [1_000_000, 1_400_000] });
});

test("a row that a trigger of the application changes once more has its entries in the order of the changes", async () => {
  await db.sql(`create function public.finish() returns trigger language plpgsql as
      $$ begin update slugs set owner = 'final' where id = new.id; return null; end $$;
    create trigger finish after insert on slugs for each row execute function public.finish()`);
  await db.sql("insert into slugs values ('made', 'draft')");
  await db.sql("drop function public.finish() cascade");
  const { rows } = await (await db.connect("system")).query(
    "select operation, changed -> 'owner' as owner from svc.row_history('public.slugs', 'made') order by id",
  );
  expect(rows).toEqual([
    { operation: "insert", owner: [null, "draft"] },
    { operation: "update", owner: ["draft", "final"] },
  ]);
});

test("operators find the entries of a row, and a later page, without reading those of other rows", async () => {
  const admin = await db.connect("admin");
  await admin.query(`begin; set local session_replication_role = replica;
    insert into svc_private.history_tables (name, declared_by, keys, omitted) values ('public.past', 'application', '{id}', '{}');
    insert into svc_private.history_entries (table_id, row_id, begins, operation, changed)
      select t.id, n % 1000, false, 'update', '{}' from svc_private.history_tables t, generate_series(1, 20000) n where t.name = 'public.past';
    commit; analyze svc_private.history_entries`);
  const [first] = await db.sql<{ id: string }>(
    "select min(e.id) as id from svc_private.history_entries e join svc_private.history_tables t on t.id = table_id where t.name = 'public.past'",
  );
  for (const call of [
    "svc_private.list_history('public.past', '7', null, null, null, 9)",
    "svc_private.studio_audit('public.past', '7', null, 9)",
    `svc_private.list_history(null, null, null, null, ${Number(first?.id) + 9}, 9)`,
    `svc_private.studio_audit(null, null, ${Number(first?.id) + 9}, 9)`,
  ]) {
    await admin.query("begin");
    const { rowCount } = await admin.query(`select from ${call}`);
    const { rows } = await admin.query(
      `select sum(seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_all_tables
        where relid in (select inhrelid from pg_inherits where inhparent = 'svc_private.history_entries'::regclass)`,
    );
    await admin.query("rollback");
    expect(rowCount, call).toBe(9);
    expect(rows[0].read, call).toBeLessThan(1000);
  }
});
