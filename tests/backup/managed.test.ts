// If this file fails, a backup cannot be restored by an administrator who is no superuser, as on managed hosts.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { noteBackup } from "../../src/backup/note.ts";
import { openCluster } from "../../src/cluster/open-cluster.ts";
import type { Cluster } from "../../src/cluster/types.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { backupsFolder, hasPrograms, restore, rowsOf, take } from "../support/backups.ts";
import { type Database, database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();
const backups = backupsFolder();
const [first, second, bytes] = ["first", "second", "bytes"].map((name) => join(backups, name)) as [
  string,
  string,
  string,
];

describe.skipIf(!inject("vector") || !(await hasPrograms(inject("serverVersion"))))("a host without superusers", () => {
  let directory: string;
  let cluster: Cluster;
  const inside = (name: string, login?: string) => {
    const url = new URL(cluster.urls.admin);
    url.pathname = name;
    if (login) [url.username, url.password] = [login, "managed"];
    return url.href;
  };
  const asSuperuser = async (name: string, text: string) => {
    const client = new pg.Client({ connectionString: inside(name) });
    await client.connect();
    const { rows } = await client.query(text).finally(() => client.end());
    return rows;
  };
  /** A database of the host, for its administrator. */
  const managed = (name: string) =>
    ({ url: () => inside(name, "manager"), sql: (text: string) => asSuperuser(name, text) }) as unknown as Database;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "svc-managed-"));
    const { SVC_POSTGRES } = process.env;
    cluster = await openCluster({
      directory,
      name: "managed",
      env: SVC_POSTGRES ? { SVC_POSTGRES } : {},
      settings: { fsync: "off" },
    });
    for (const { rolname } of await asSuperuser("svc", "select rolname from pg_roles where rolname like 'svc%'")) {
      await asSuperuser("svc", `drop role ${rolname}`);
    }
    await asSuperuser("svc", "create role manager login createrole createdb password 'managed'");
    for (const name of ["bare", "app"]) await asSuperuser("svc", `create database ${name} owner manager`);
    await db.sql("insert into guestbook (message) values ('hello')");
    await take(db, new DiskDriver(bytes), first);
  });
  afterAll(async () => {
    await cluster?.stop();
    if (cluster?.directory) await rm(dirname(cluster.directory), { recursive: true, force: true });
    await rm(directory, { recursive: true, force: true });
  });

  test("a superuser's backup is restored into a server without svc's roles, and can be migrated", async () => {
    await asSuperuser(
      "app",
      "create schema extensions authorization manager; create extension vector schema extensions",
    );
    await restore(managed("app"), first, bytes);
    expect(await rowsOf(managed("app"))).toEqual(await rowsOf(db));
    const application = join(root, "tests/fixture");
    await migrate({ adminUrl: inside("app", "manager"), platform: root, application });
  });

  test("a backup of the host replaces its own database, and nobody keeps a privilege of the restore", async () => {
    const manifest = await take(managed("app"), new DiskDriver(bytes), second);
    await noteBackup(inside("app", "manager"), "db_backup", second, manifest);
    expect(await asSuperuser("app", "select taken_at from svc_private.backup_state()")).toEqual([
      { taken_at: new Date(manifest.takenAt) },
    ]);
    await asSuperuser("app", "delete from guestbook");
    await restore(managed("app"), second, bytes, { force: true });
    expect(await asSuperuser("app", "select message from guestbook")).toEqual([{ message: "hello" }]);
    const creators = `select n.nspname, r.rolname from pg_namespace n, pg_roles r
      where r.rolname like 'svc\\_reader%' and has_schema_privilege(r.oid, n.oid, 'create')`;
    expect(await asSuperuser("app", creators)).toEqual([]);
    expect(await asSuperuser("app", "select from pg_default_acl where defaclobjtype = 'n'")).toEqual([]);
  });

  test("a copy for tests, restored by the host's administrator, runs and sends nothing", async () => {
    await asSuperuser(
      "app",
      `insert into auth."user" (id, name, email, email_verified) values ('ann', 'Ann', 'ann@example.com', true);
       insert into auth.session (id, user_id, token, expires_at) values ('s', 'ann', 'secret', now() + interval '1 day');
       select svc_private.enqueue_system_job('notes.mail', '{}', '0 s', null, null);
       select svc_private.start_system_workflow('pay', 1, '{}', null, '1 day', 1);
       select svc_private.register_cron('nightly', '0 0 * * *', now())`,
    );
    const folder = join(backups, "third");
    await take(managed("app"), new DiskDriver(bytes), folder);
    const sql = `update auth."user" set name = 'somebody'`;
    await restore(managed("app"), folder, bytes, { force: true, asCopy: true, sql });
    const left = `select (select count(*) from auth.session)::int as sessions, (select name from auth."user") as name,
      (select count(*) from graphile_worker._private_jobs)::int as jobs, (select status from svc.workflow_runs) as run,
      (select paused_at is not null from svc_private.crons where name = 'nightly') as paused`;
    expect(await asSuperuser("app", left)).toEqual([
      { sessions: 0, name: "somebody", jobs: 0, run: "cancelled", paused: true },
    ]);
  });

  test("the extension that only a superuser may create is named, with what the superuser runs", async () => {
    await expect(restore(managed("bare"), second, bytes)).rejects.toThrow(
      /permission denied to create extension "vector"\n.*authorization "manager"; create extension "vector" schema extensions.*unchanged/,
    );
    // Its schema belongs to that server's superuser.
    await expect(restore(managed("bare"), first, bytes)).rejects.toThrow(
      /"postgres"\n.*creates schema and extension in the target first/,
    );
  });
});
