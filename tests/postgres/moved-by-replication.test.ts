// If this file fails, an operator who moves to another server as docs/how-to/move-the-database.md says loses rows, stops uploads
// and searches of the old server, or gets numbers twice.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Database, database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, service, TestService, type User } from "../support/service.ts";
import { begun } from "../support/uploads.ts";

const old = database();
const fresh = database();
const api = apiWith();
const running = service(old, api);
const page = readFileSync(join(root, "docs/how-to/move-the-database.md"), "utf8");

/** The block of the page that begins with these words. */
const block = (begin: string) => {
  const text = page.split("```text\n").find((part) => part.startsWith(begin));
  if (!text) throw new Error(`The page has no block that begins with ${begin}`);
  return text.slice(0, text.indexOf("```"));
};
/** As `\gexec`: what a query returns is executed before the next one. */
async function execute(text: string, from: Database, to = from): Promise<void> {
  for (const query of text.split("\\gexec").filter((part) => part.trim())) {
    for (const row of await from.sql<Record<string, string>>(query)) await to.sql(Object.values(row)[0] ?? "");
  }
}
const rowsOf = async (db: Database) =>
  (await db.sql<{ name: string }>("select name, rows, hash from svc_private.describe_rows() order by name")).filter(
    ({ name }) => name !== "auth.attempt", // unlogged
  );
/** @returns the number of a new row */
const write = async (ann: User, title: string, to = running, db = old) => {
  const { status, body } = await to.mutate(ann, "notes.create", { title });
  expect(status, JSON.stringify(body)).toBe(200);
  await db.sql("insert into pages (user_id, title) values ($1, $2)", [ann.id, title]);
  await begun(to, ann, 10);
  return body.json.id as number;
};

test("rows, numbers and sessions are on the new server, and the old one takes every write until then", async () => {
  const ann = await running.signUp("ann");
  const before = await write(ann, "before");
  // What `pg_dump --schema-only` has not.
  await fresh.sql(
    `set session_replication_role = replica;
     do $$ begin execute (select 'truncate ' || string_agg(c.oid::regclass::text, ', ') || ' cascade' from pg_class c
       join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p') and n.nspname !~ '^(pg_|information_schema$)' and not c.relispartition); end $$;
     reset session_replication_role`,
  );
  await execute(block("select format('alter table"), old);
  // On one server the slot must be there before.
  await old.sql(`select pg_create_logical_replication_slot('${old.name}', 'pgoutput')`);
  await fresh.sql(
    `create subscription moving connection '${old.url("admin")}' publication moving
       with (create_slot = false, slot_name = '${old.name}')`,
  );
  let isMoved = false;
  onTestFinished(async () => {
    if (!isMoved) await fresh.sql("drop subscription moving");
  });
  await write(ann, "during");
  await running.mutate(ann, "notes.update", { id: before, title: "changed" });
  await old.sql("delete from pages where title = 'before'"); // its entries in the index of searches have no key
  const notReady = () => fresh.sql(block("select srrelid"));
  await expect.poll(notReady, { timeout: 60_000, interval: 200 }).toEqual([]);
  const last = await write(ann, "after the copy");

  await running.stop();
  const [{ position } = { position: "" }] = await old.sql<{ position: string }>(
    "select pg_current_wal_lsn()::text as position",
  );
  const isThere = () =>
    fresh.sql(
      `select from pg_stat_subscription where subname = 'moving' and relid is null and latest_end_lsn >= '${position}'`,
    );
  await expect.poll(async () => (await isThere()).length, { timeout: 60_000 }).toBe(1);
  const expected = await rowsOf(old);
  await expect.poll(() => rowsOf(fresh), { timeout: 60_000 }).toEqual(expected);
  await execute(block("select format('select setval"), old, fresh);
  await fresh.sql("drop subscription moving");
  isMoved = true;

  const moved = new TestService(fresh, api, {});
  await moved.start(Number(new URL(running.url).port));
  onTestFinished(() => moved.stop());
  const { body } = await moved.query(ann, "notes.list", {});
  expect(body.json.data.map(({ title }: { title: string }) => title).sort()).toEqual([
    "after the copy",
    "changed",
    "during",
  ]);
  expect(await write(ann, "there", moved, fresh)).toBeGreaterThan(last);
});

test("who gives up has the replica identities of before, also of tables that realtime follows", async () => {
  const identities = () =>
    old.sql(`select c.oid::regclass::text as name, c.relreplident as identity from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p') and n.nspname !~ '^(pg_|information_schema$)' order by 1`);
  await old.sql(`drop publication if exists moving;
    create table public.seen (n integer) partition by range (n);
    create table public.seen_1 partition of public.seen default;
    alter table public.seen replica identity full;
    alter table public.seen_1 replica identity full;
    alter publication svc add table public.seen`);
  const [drop = "", restore = ""] = block("drop publication moving").split(/(?<=;\n)/);
  await execute(restore, old); // what the test above has left
  const before = await identities();
  expect(before).toContainEqual({ name: "seen", identity: "f" });
  await execute(block("select format('alter table"), old);
  expect(await identities()).not.toEqual(before);
  await old.sql(drop);
  await execute(restore, old);
  expect(await identities()).toEqual(before);
});
