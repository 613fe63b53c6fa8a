// If this file fails, entries of the history can be changed, removed or forged, a write fails for want of a partition, or old
// months stay longer than the operator says.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { database } from "../support/database.ts";
import { until, workers } from "../support/worker.ts";
import { api, installAll } from "./application.ts";

const db = database();
const worker = workers(db, api);
beforeAll(() => installAll(db));
beforeEach(() => db.sql("insert into slugs values (gen_random_uuid(), 'a')"));

const months = async () =>
  (
    await db.sql<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'svc_private.history_entries'::regclass order by 1`,
    )
  ).map(({ name }) => name.replace("svc_private.history_", ""));
const month = async (ahead: number) =>
  (await db.sql(`select to_char(now() at time zone 'UTC' + $1 * interval '1 month', 'YYYY_MM') as it`, [ahead]))[0]?.it;
/** Makes a partition as it was at that time, with one entry. */
async function past(ahead: number): Promise<string> {
  const name = await month(ahead);
  await db.sql(`create table svc_private.history_${name} partition of svc_private.history_entries
    for values from ('${name.replace("_", "-")}-01Z') to ('${(await month(ahead + 1)).replace("_", "-")}-01Z')`);
  await forge(`${name.replace("_", "-")}-15Z`);
  return name;
}
/** As a trigger would have done. */
async function forge(at: string): Promise<void> {
  await db.sql("set session_replication_role = replica");
  await db.sql(
    `insert into svc_private.history_entries (at, table_id, row_id, begins, operation, changed) values ($1, 1, 'old', true, 'insert', '{}')`,
    [at],
  );
  await db.sql("reset session_replication_role");
}

test.for(["request", "system", "auth", "studioRead", "studioAct", "admin"] as const)(
  "the login of %s changes, removes and adds no entry",
  async (login) => {
    const client = await db.connect(login);
    const before = await db.snapshot("svc_private.history_entries");
    const [part] = await months();
    for (const text of [
      "update svc_private.history_entries set actor = 'bob'",
      "delete from svc_private.history_entries",
      "truncate svc_private.history_entries",
      "insert into svc_private.history_entries (table_id, begins, operation, changed) values (1, true, 'insert', '{}')",
      `update svc_private.history_${part} set actor = 'bob'`,
      `delete from svc_private.history_${part}`,
      `truncate svc_private.history_${part}`,
      "truncate svc_private.history_default",
      `insert into svc_private.history_${part} (at, table_id, begins, operation, changed) values (now(), 1, true, 'insert', '{}')`,
    ]) {
      await expect(client.query(text), text).rejects.toMatchObject({ code: expect.stringMatching(/42501|25006/) });
    }
    expect(await db.snapshot("svc_private.history_entries")).toEqual(before);
  },
);

test("SQL that runs as the system drops no month that has begun, whatever age it passes", async () => {
  const [before, entries] = [await months(), await db.snapshot("svc_private.history_entries")];
  await (await db.connect("system")).query("select svc_private.sweep_history('-1 year')");
  expect(await months()).toEqual(before); // a month that was dropped would have been made again, without its entries
  expect(await db.snapshot("svc_private.history_entries")).toEqual(entries);
});

test("the roles of requests and the owner change none either, and requests read none past the row", async () => {
  const admin = await db.connect("admin");
  for (const role of ["svc_owner", "svc_anonymous", "svc_authenticated"]) {
    for (const text of [
      "update svc_private.history_entries set actor = 'bob'",
      "delete from svc_private.history_entries",
    ]) {
      await admin.query(`begin; set local role ${role}`);
      await expect(admin.query(text), `${role}: ${text}`).rejects.toMatchObject({ code: "42501" });
      await admin.query("rollback");
    }
  }
  for (const role of ["svc_anonymous", "svc_authenticated"]) {
    for (const text of [
      "select * from svc_private.history_entries",
      "select * from svc_private.find_entries(1, 'a', null, 9)",
      "select * from svc_private.select_entries('public.slugs', 'a', null, 9)",
      "select * from svc_private.list_history(null, null, null, null, null, 9)",
    ]) {
      await admin.query(`begin; set local role ${role}`);
      await expect(admin.query(text), `${role}: ${text}`).rejects.toMatchObject({ code: "42501" });
      await admin.query("rollback");
    }
  }
});

test("this month and the next two have partitions, and an entry of any other month has a place", async () => {
  expect(await months()).toEqual([await month(0), await month(1), await month(2), "default"]);
  await forge("2031-03-31T23:59:59Z");
  expect(await db.sql("select row_id from svc_private.history_default")).toEqual([{ row_id: "old" }]);
  const [{ at } = { at: "" }] = await db.sql<{ at: string }>(
    "select (date_trunc('month', now() at time zone 'UTC') + interval '1 month')::text as at",
  );
  for (const offset of ["-1 microsecond", "0"]) {
    await db.sql("select set_config('test.at', ($1::timestamp at time zone 'UTC' + $2::interval)::text, false)", [
      at,
      offset,
    ]);
    await forge((await db.sql("select current_setting('test.at') as at"))[0]?.at);
  }
  const count = async (ahead: number) =>
    (
      await db.sql(`select count(*)::integer as n from svc_private.history_${await month(ahead)} where row_id = 'old'`)
    )[0]?.n;
  expect([await count(0), await count(1)]).toEqual([1, 1]);
  // Of a month whose entries lie in the default partition none is made.
  await db.sql(`drop table svc_private.history_${await month(2)}`);
  await forge(`${(await month(2)).replace("_", "-")}-20Z`);
  await db.sql("select svc_private.sweep_history(null)");
  expect(await months()).toEqual([await month(0), await month(1), "default"]);
});

test("the daily sweep drops months that are older than limits.historyDays, and none without it, whatever befalls files", async () => {
  const names = [await past(-14), await past(-4), await past(-1)];
  const folder = await mkdtemp(join(tmpdir(), "svc-history-"));
  const base = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  const sweep = async (historyDays: number | false) => {
    await db.sql("truncate graphile_worker._private_jobs");
    await db.sql("select svc_private.keep_sweep_job('0 seconds')");
    const limits = { ...base.limits, historyDays };
    const running = await worker({ config: { ...base, limits, storage: { driver: "disk", dir: folder } } });
    const due = "select from graphile_worker._private_jobs where run_at <= now()";
    await until(async () => (await db.sql(due)).length === 0);
    await running.stop();
  };
  await sweep(false);
  expect(await months()).toEqual(expect.arrayContaining(names));
  await sweep(90);
  const left = await months();
  expect(names.map((name) => left.includes(name))).toEqual([false, false, true]);
  expect(left).toContain("default"); // it has entries of 2031

  const old = await past(-14);
  await writeFile(join(folder, "mark"), "of another database");
  await sweep(90);
  expect(await months()).not.toContain(old);
  await rm(folder, { recursive: true });
});

test("entries of months without a partition are dropped together, when the newest is old", async () => {
  await db.sql("drop table svc_private.history_default");
  await db.sql("set role svc_owner");
  await db.sql("select svc_private.make_history_default()");
  await db.sql("reset role");
  await forge("2020-01-01Z");
  expect(await db.sql("select svc_private.sweep_history('1 year') as n")).toEqual([{ n: 1 }]);
  expect(await db.sql("select from svc_private.history_default")).toEqual([]);
  await forge("2020-01-01Z");
  await expect(db.sql("truncate svc_private.history_default")).rejects.toMatchObject({ code: "42501" });
});
test("a long statement on an audited table delays the sweep, and fails nothing", async () => {
  const name = await past(-14);
  const other = await db.connect("admin");
  await other.query("begin; insert into slugs values ('slow', 'a')");
  expect(await db.sql("select svc_private.sweep_history('90 days') as n")).toEqual([{ n: 0 }]);
  await other.query("commit");
  expect(await months()).toContain(name);
});

test("a change that commits while the sweep waits for it keeps its entry, in a month without a partition", async () => {
  await db.sql("select svc_private.sweep_history('1 year')"); // the default partition is the first that it drops below
  await db.sql("drop table svc_private.history_default");
  await db.sql("set role svc_owner; select svc_private.make_history_default(); reset role");
  await db.sql(`drop table svc_private.history_${await month(0)}`);
  await forge("2020-01-01Z");
  const other = await db.connect("admin");
  await other.query("begin; insert into slugs values ('meanwhile', 'a')");
  const sweeper = await db.connect("admin");
  const swept = sweeper.query("select svc_private.sweep_history('1 year')");
  const wanted = "select from pg_locks where not granted and relation = 'svc_private.history_entries'::regclass";
  await Promise.race([swept, until(async () => (await db.sql(wanted)).length > 0)]);
  await other.query("commit");
  await swept;
  expect(await db.sql("select from svc_private.history_entries where row_id = 'meanwhile'")).toHaveLength(1);
});

test("while the sweep waits to drop a month, it holds nothing that readers wait for", async () => {
  const name = await past(-14);
  await db.sql(`drop table if exists svc_private.history_${await month(2)}`);
  const reader = await db.connect("admin");
  await reader.query("begin; lock table only svc_private.history_entries in access share mode");
  const sweeper = await db.connect("admin");
  const swept = sweeper.query("select svc_private.sweep_history('1 year')");
  const held = `select l.relation::regclass::text as name from pg_locks l
     join pg_locks w on w.pid = l.pid and not w.granted and w.relation = 'svc_private.history_entries'::regclass
    where l.granted and l.mode = 'AccessExclusiveLock' and l.relation in (
      select inhrelid from pg_inherits where inhparent = 'svc_private.history_entries'::regclass)`;
  const waits = "select from pg_locks where not granted and relation = 'svc_private.history_entries'::regclass";
  await Promise.race([swept, until(async () => (await db.sql(waits)).length > 0)]);
  const blocked = await db.sql(held);
  await reader.query("commit");
  await swept;
  expect(blocked).toEqual([]);
  await db.sql("select svc_private.sweep_history('1 year')"); // where the other gave up
  expect(await months()).not.toContain(name);
  expect(await months()).toContain(await month(2));
});

test("two sweeps at once drop a month once, and neither fails", async () => {
  await past(-14);
  const [reader, ...sweepers] = await Promise.all([db.connect("admin"), db.connect("system"), db.connect("system")]);
  await reader.query("begin; lock table only svc_private.history_entries in access share mode");
  const swept = Promise.all(sweepers.map((one) => one.query("select svc_private.sweep_history('1 year') as n")));
  const waits = "select from pg_locks where not granted and relation = 'svc_private.history_entries'::regclass";
  await Promise.race([swept, until(async () => (await db.sql(waits)).length === 2)]); // they give up after a second
  await reader.query("commit");
  const [one, other] = (await swept).map(({ rows }) => rows[0].n);
  expect(one + other).toBeLessThanOrEqual(1);
});

test("a sweep that finds a month locked, which another one drops, gives up without an error", async () => {
  const name = await past(-14);
  const dropper = await db.connect("admin");
  await dropper.query(`begin; lock table only svc_private.history_${name} in access exclusive mode`);
  expect(await db.sql("select svc_private.sweep_history('1 year') as n")).toEqual([{ n: 0 }]);
  await dropper.query("rollback");
  expect(await db.sql("select svc_private.sweep_history('1 year') as n")).toEqual([{ n: 1 }]);
});
