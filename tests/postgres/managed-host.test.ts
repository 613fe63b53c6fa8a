// If this file fails, svc cannot be set up or does not work without a superuser, as on managed hosts. It needs a
// separate server without our logins, and runs with `npm run chaos`.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { openCluster } from "../../src/cluster/open-cluster.ts";
import type { Cluster } from "../../src/cluster/types.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import type { Database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, TestService } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

const note = procedure.internal
  .name("managed.note")
  .input(z.object({ title: z.string() }))
  .handler(async ({ context, input }) => {
    const { user } = context.auth.requireAuth();
    await context.db.insert(notes).values({ title: input.title, userId: user.id });
  });
const later = procedure.mutation
  .name("managed.later")
  .input(z.object({ title: z.string() }))
  .handler(({ context, input }) => context.scheduler.runAfter(0, "managed.note", input));
const api = apiWith({ procedures: { note, later } });

let urls: Record<"request" | "auth" | "system" | "admin" | "replication", string>;
const startWorker = workers({ get urls() { return urls; } } as unknown as Database, api); // biome-ignore format: one line

describe.skipIf(!process.env.CHAOS_ROUNDS)("a host whose administrator is no superuser", () => {
  let directory: string;
  let cluster: Cluster;
  let superuser: pg.Client;
  let manager: pg.Client;
  let target: Parameters<typeof migrate>[0];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "svc-managed-"));
    const { SVC_POSTGRES } = process.env; // `embedded` is a server of another major version, with other rules for roles
    const env = SVC_POSTGRES ? { SVC_POSTGRES } : {};
    cluster = await openCluster({ directory, name: "managed", env, settings: { fsync: "off" } });
    superuser = new pg.Client({ connectionString: cluster.urls.admin });
    await superuser.connect();
    for (const { rolname } of (await superuser.query("select rolname from pg_roles where rolname like 'svc%'")).rows) {
      await superuser.query(`drop role ${rolname}`);
    }
    await superuser.query("create role manager login createrole createdb password 'managed'");
    await superuser.query("create database app owner manager");
    await superuser.query("create role host_replication login replication password 'managed'");
    const as = (login: string) => {
      const url = new URL(cluster.urls.admin);
      [url.username, url.password, url.pathname] = [login, "managed", "app"];
      return url.href;
    };
    urls = {
      request: as("svc_request"),
      auth: as("svc_auth"),
      system: as("svc_system"),
      admin: as("manager"),
      replication: as("host_replication"),
    };
    target = { adminUrl: urls.admin, platform: root, application: join(root, "tests/fixture") };
  });
  const superuserUrl = () => Object.assign(new URL(cluster.urls.admin), { pathname: "app" }).href;
  afterAll(async () => {
    await Promise.all([superuser?.end(), manager?.end()]);
    await cluster?.stop();
    if (cluster?.directory) await rm(dirname(cluster.directory), { recursive: true, force: true });
    await rm(directory, { recursive: true, force: true });
  });

  test("migrates, and again without a change", async () => {
    expect((await migrate(target)).length).toBeGreaterThan(100);
    expect(await migrate(target)).toEqual([]);
    manager = new pg.Client({ connectionString: urls.admin });
    await manager.connect();
    for (const login of ["svc_request", "svc_auth", "svc_system"]) {
      await manager.query(`alter role ${login} password 'managed'`);
    }
    // Reports what could not be closed.
    const { rows } = await superuser.query("select rolname from pg_roles where rolname like 'svc%' and rolbypassrls");
    expect(rows).toEqual([]);
  });

  test("requests have what is granted to them by SET ROLE alone, and readers see by their role's policies", async () => {
    const { rows } = await manager.query<{ member: string; role: string; inherits: boolean | null; admin: boolean }>(
      `select m.member::regrole::text as member, m.roleid::regrole::text as role, m.admin_option as admin,
              (to_jsonb(m) ->> 'inherit_option')::boolean as inherits
         from pg_auth_members m where m.member::regrole::text like 'svc%' and m.roleid::regrole::text like 'svc%' order by 1, 2`,
    );
    expect(rows.map(({ member, role }) => `${member} in ${role}`)).toEqual([
      "svc_owner in svc_reader_anonymous",
      "svc_owner in svc_reader_authenticated",
      "svc_reader_anonymous in svc_anonymous",
      "svc_reader_authenticated in svc_authenticated",
      "svc_request in svc_anonymous",
      "svc_request in svc_authenticated",
      "svc_studio_read in svc_anonymous",
      "svc_studio_read in svc_authenticated",
    ]);
    expect(rows.filter(({ admin }) => admin)).toEqual([]);
    // Servers before 16 lack this option; there the logins are NOINHERIT.
    const logins = ["svc_request", "svc_studio_read"];
    for (const { member, inherits } of rows) if (inherits !== null) expect(inherits).toBe(!logins.includes(member));
    await manager.query(`begin;
      create function svc.probe() returns text language sql security definer set search_path = '' as 'select current_user::text';
      alter function svc.probe() owner to svc_owner;
      set local role svc_owner;
      call svc_private.run_as_reader('svc.probe()', 'svc_reader_authenticated')`);
    await manager.query("set local role svc_authenticated");
    expect((await manager.query("select svc.probe() as reader")).rows).toEqual([
      { reader: "svc_reader_authenticated" },
    ]);
    await manager.query("rollback");
  });

  test("migrates again, where a superuser has closed PostgreSQL's doors meanwhile", async () => {
    expect((await migrate({ ...target, adminUrl: superuserUrl(), again: true })).length).toBeGreaterThan(100);
    const open = () =>
      manager.query("select name from svc_private.lint_schema() where rule in ('impersonation_open', 'locks_open')");
    expect((await open()).rows).toEqual([]);
    expect((await migrate({ ...target, again: true })).length).toBeGreaterThan(100);
    expect((await open()).rows).toEqual([]);
  });

  test("serves users apart, and runs their jobs", async () => {
    const running = new TestService({ urls } as unknown as Database, api, {});
    await running.start();
    const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
    expect((await running.mutate(ann, "notes.create", { title: "hers" })).status).toBe(200);
    const worker = await startWorker();
    expect((await running.mutate(ann, "managed.later", { title: "by a job" })).status).toBe(200);
    await until(async () => (await running.query(ann, "notes.list")).body.json.total === 2);
    expect((await running.query(bob, "notes.list")).body.json.total).toBe(0);
    await worker.stop();
    await running.stop();
  });
});
