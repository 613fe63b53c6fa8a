// If this file fails, a backup is incomplete, or cannot be restored.
import { randomBytes } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { findPrograms, start } from "../../src/backup/programs.ts";
import { applyRoles } from "../../src/migrate/apply-roles.ts";
import { compareFiles } from "../../src/migrate/ledger.ts";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { backupsFolder, hasPrograms, restore, rowsOf, take } from "../support/backups.ts";
import { svc as command } from "../support/cli.ts";
import { type Database, database } from "../support/database.ts";
import { bytesFolder, bytesIdOf, fileProcedures, stored } from "../support/files.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, secret, service, TestService, type User } from "../support/service.ts";

const db = database();
const target = database("template0");
const bare = database("template0");
const dir = bytesFolder();
const api = apiWith({ procedures: fileProcedures });
const svc = service(db, api, { storage: { driver: "disk", dir } });
const backups = backupsFolder();
const folder = join(backups, "first");
const files = join(backups, "bytes");
/** A role of the application. Without svc's prefix: tests of the platform's roles run at the same time. */
const role = `report_${randomBytes(4).toString("hex")}`;
let app: string;
let ann: User;
let id: string;
let printed = "";

const message = (text: string) => {
  const one = { name: "room", topic: "room", message: "said", keep: 3_600_000, max: 10 };
  return JSON.stringify([{ ...one, body: JSON.stringify({ json: text }), user: ann.id }]);
};

beforeAll(async () => {
  app = await mkdtemp(join(root, ".svc/backup-"));
  await cp(join(root, "tests/fixture"), app, { recursive: true });
  ann = await svc.signUp("ann");
  id = await stored(svc, ann, new File(["hello"], "a.txt", { type: "text/plain" }), { visibility: "public" });
  // One copy as stored, one where the application under `app` looks for it.
  await cp(dir, join(app, ".svc/storage"), { recursive: true });
  await db.sql("insert into guestbook (message) select 'hello ' || n from generate_series(1, 100) n");
  await db.sql(`create role ${role} nologin; grant select on guestbook to ${role}`);
  // A table that refers to partitions, of which one is gone: PostgreSQL numbers its copies of the key.
  await db.sql(`set local role svc_owner;
    create table readings (device integer, at date, primary key (device, at)) partition by range (at);
    create table alerts (device integer, at date, foreign key (device, at) references readings);
    create table readings_3 partition of readings for values from ('2026-03-01') to ('2026-04-01');
    create table readings_2 partition of readings for values from ('2026-02-01') to ('2026-03-01');
    create table readings_1 partition of readings for values from ('2026-01-01') to ('2026-02-01');
    alter table readings detach partition readings_3;
    drop table readings_3;
    insert into readings values (1, '2026-01-31'), (1, '2026-02-01');
    insert into alerts values (1, '2026-02-01')`);
  // Views that depend on a primary key, by their grouping, and a constraint of a domain: each is dropped in two steps.
  await db.sql(`set local role svc_owner; create schema "Sales"; create type "Sales"."Mood" as enum ('glad');
    create domain "Sales".code as text; alter domain "Sales".code add constraint short check (length(value) < 9) not valid;
    create table "Sales".orders (id integer primary key, mood "Sales"."Mood", code "Sales".code, note text);
    create view "Sales".counted as select id, mood, count(*) as n from "Sales".orders group by id;
    create view "Sales".over_it as select n from "Sales".counted`);
  await db.sql("select svc.store_messages($1)", [message("before")]);
  // As a failed CREATE INDEX CONCURRENTLY leaves one.
  await db.sql("create index half_made on guestbook (message)");
  await db.sql("update pg_index set indisvalid = false where indexrelid = 'half_made'::regclass");
  // A job that a worker holds.
  await db.sql("select graphile_worker.add_job('procedure', '{}')");
  await db.sql("update graphile_worker._private_jobs set locked_by = 'worker-1', locked_at = now()");
});
afterAll(async () => {
  await rm(app, { recursive: true, force: true });
  for (const one of [target, db]) await one.sql(`drop owned by ${role}`); // in db where there is no pg_dump
  await db.sql(`drop role ${role}`);
});

async function run(from: Database, ...args: string[]) {
  const ended = await command(from, app, ["db", ...args]).ended;
  printed += ended.text;
  return ended;
}

describe.skipIf(!(await hasPrograms(inject("serverVersion"))))("svc db", () => {
  test("backup writes what is there, for its owner's eyes, and once", async () => {
    const { code, error } = await run(db, "backup", folder);
    expect([code, error]).toEqual([0, expect.stringMatching(/first: \d+ tables, 1 files, [\d.]+ MB\.\n$/)]);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const modes = entries.filter((one) => one.isFile()).map(({ parentPath, name }) => stat(join(parentPath, name)));
    expect(new Set((await Promise.all(modes)).map(({ mode }) => mode & 0o777))).toEqual(new Set([0o600]));
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await expect(take(db, new DiskDriver(dir), folder)).rejects.toThrow("is not empty");
  });

  test("verify --deep restores on trial, and leaves nothing behind", async () => {
    const { code, error } = await run(db, "verify", folder, "--deep");
    expect([code, error]).toEqual([0, expect.stringMatching(/every table has the rows of the backup/)]);
    expect(await db.sql("select from pg_database where datname like 'svc_verify%'")).toEqual([]);
  });

  test("are remembered by the database, for metrics, svc doctor and Studio", async () => {
    const { takenAt, files } = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8"));
    const acts = await db.sql("select via, act, arguments from svc.operator_acts order by id");
    const of = expect.objectContaining({ folder, takenAt, files: files.count });
    expect(acts).toEqual([
      { via: "svc db backup", act: "db_backup", arguments: of },
      { via: "svc db verify", act: "db_verify", arguments: of },
    ]);
    const metrics = await db.sql("select metric, value from svc_private.service_state() where metric like 'backup%'");
    expect(metrics).toEqual([
      { metric: "backup_last_timestamp_seconds", value: Date.parse(takenAt) / 1_000 },
      { metric: "backup_tried_timestamp_seconds", value: expect.any(Number) },
    ]);
  });

  test("restore fills an empty database: rows, files, grants, roles", async () => {
    await db.sql(`drop owned by ${role}; drop role ${role}`);
    await rm(join(app, ".svc/storage"), { recursive: true });
    // Meanwhile a migration of another database applies the roles, which belong to the server.
    const other = await db.connect("admin");
    await other.query("begin");
    await applyRoles(other, "alter role svc_request noinherit");
    const restoring = run(target, "restore", folder);
    const waiting = () =>
      db.sql("select from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'", [target.name]);
    await expect.poll(waiting).toHaveLength(1);
    await other.query("commit");
    expect(await restoring).toMatchObject({ code: 0 });
    const granted = `has_table_privilege('${role}', 'guestbook', 'select')`;
    expect(await target.sql(`select ${granted} as granted`)).toEqual([{ granted: true }]);
    const bytes = new DiskDriver(join(app, ".svc/storage"));
    expect((await bytes.readWhole(`objects/${await bytesIdOf(target, id)}`))?.toString()).toBe("hello");
    await cp(join(app, ".svc/storage"), files, { recursive: true });
    // A dump omits privileges on the database.
    const temporary = "select has_database_privilege('svc_request', current_database(), 'temporary') as may";
    expect(await target.sql(temporary)).toEqual([{ may: false }]);
    // Nothing is left to migrate.
    const adminUrl = target.url("admin");
    expect((await compareFiles({ adminUrl, platform: root, application: app })).pending).toEqual([]);
  });

  test("restore refuses what is not empty, and prints no secret", async () => {
    await expect(restore(target, folder, files)).rejects.toThrow(
      /is not empty: it has \d+ tables. Nothing was done.*DATABASE_ADMIN_URL/s,
    );
    for (const url of Object.values(db.urls)) expect(printed).not.toContain(new URL(url).password);
    for (const hidden of [secret, ann.email, ann.sessionToken, "hello 1"]) expect(printed).not.toContain(hidden);
  });
});

describe.skipIf(!(await hasPrograms(inject("serverVersion"))))("what was restored", () => {
  const again = new TestService(target, api, { storage: { driver: "disk", dir: files } });
  afterAll(() => again.stop());

  test("goes on: sessions, files, sequences, and the job of a worker that is no more", async () => {
    await again.start();
    const answer = await again.post("/api/auth/token", {}, { ...ann, token: ann.sessionToken });
    expect(answer.status).toBe(200);
    expect(await again.fetch(`/api/storage/${id}`)).toMatchObject({ status: 200, body: "hello" });
    const [next] = await target.sql("insert into guestbook (message) values ('next') returning id");
    expect(next).toEqual({ id: 101 });
    const rescued = "select * from svc_private.rescue_workers(array['worker-1'], '0 s')";
    expect(await target.sql(rescued)).toEqual([{ worker: "worker-1", rescued: true }]);
  });

  test("messages of durable channels are there again, and no number is used again", async () => {
    const all = "select id, body from svc.channel_messages order by id";
    const client = await db.connect("admin");
    await client.query("begin");
    await client.query("select svc.store_messages($1)", [message("lost")]);
    const lost = (await client.query(all)).rows[1]?.id;
    await client.query("rollback"); // other tests compare the rows
    const isGap = async (after: unknown) => {
      const [row] = await target.sql<{ page: string }>("select svc.read_messages('room', $1, 1, 1) as page", [after]);
      return JSON.parse(row?.page ?? "").gap;
    };
    expect(await isGap(lost)).toBe(true);
    for (const text of ["after", "later"]) await target.sql("select svc.store_messages($1)", [message(text)]);
    const rows = await target.sql<{ id: string; body: string }>(all);
    expect(rows.map(({ body }) => body)).toEqual(['{"json":"before"}', '{"json":"after"}', '{"json":"later"}']);
    expect(rows.map(({ id }) => id)).not.toContain(lost);
    expect([await isGap(lost), await isGap(rows[0]?.id), await isGap(rows[1]?.id)]).toEqual([true, false, false]);
  });

  test("is not replaced while a service is connected; then all of it is, with everybody signed out", async () => {
    await expect(restore(target, folder, files, { force: true })).rejects.toThrow(/is in use \(.*svc /);
    await again.stop();
    await restore(target, folder, files, { force: true, endSessions: true });
    // Sessions have ended; the line of the backup was written after it.
    const others = ["auth.session", "svc.operator_acts"];
    const kept = (rows: { name: string }[]) => rows.filter(({ name }) => !others.includes(name));
    expect(kept((await rowsOf(target)) as never)).toEqual(kept((await rowsOf(db)) as never));
    expect(await target.sql("select from auth.session")).toEqual([]);
  });

  test("a second backup waits for the first, and says so", async () => {
    const holder = await db.connect("admin");
    await holder.query("select svc_private.hold_bytes()");
    await expect(take(db, new DiskDriver(dir), join(backups, "second"))).rejects.toThrow(
      "Another backup of this database",
    );
    await holder.end();
  });
});

describe.skipIf(!(await hasPrograms(inject("serverVersion"))))("a server that svc has never migrated", () => {
  test("can be used for the trial, which it cannot remember", async () => {
    const { code, error } = await run(bare, "verify", folder, "--deep");
    expect([code, error]).toEqual([0, expect.stringMatching(/has succeeded\. The database could not be told of it: /)]);
  });

  test("is filled although its limits are too short for the statistics", async () => {
    await db.sql(`set local role svc_owner;
      create function slow(integer) returns integer language plpgsql immutable as 'begin perform pg_sleep(1); return $1; end';
      create table slow_rows as select 1 as id; create index on slow_rows (public.slow(id))`);
    const other = join(backups, "slow");
    await take(db, new DiskDriver(dir), other);
    await bare.sql(`alter database ${bare.name} set statement_timeout = '500ms'`);
    await restore(bare, other, files);
    expect(await bare.sql("select from pg_stats where tablename = 'slow_rows'")).toHaveLength(1);
  });
});

test("programs that are missing or too old are named with the package that has them", async () => {
  const message = /postgresql-client-99 .*apt\.postgresql\.org.*postgresql@99 \(Homebrew\)/s;
  await expect(findPrograms(99)).rejects.toThrow(message);
});

test.skipIf(!(await hasPrograms(inject("serverVersion"))))("no password stands in the list of processes", async () => {
  const programs = await findPrograms(15);
  const child = start(programs, "psql", ["--command=select 1"], db.url("admin"));
  expect(child.spawnargs.join(" ")).not.toContain(new URL(db.url("admin")).password);
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
});
