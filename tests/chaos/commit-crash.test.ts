// If this file fails, a mutation during a crash or a failover of PostgreSQL is answered as saved and is lost, or as not
// saved and exists. After both, a server may reuse a transaction id, so its word alone is not enough.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canMakeStandby, connected, type Standby, startStandby } from "../../scripts/rehearse/standby.ts";
import { openCluster, provision } from "../../src/cluster/open-cluster.ts";
import type { Cluster } from "../../src/cluster/types.ts";
import { v } from "../../src/index.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { serverPid } from "../postgres/clusters.ts";
import type { Database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, TestService, type User } from "../support/service.ts";

const tree = await provision({ directory: join(root, ".svc"), env: { SVC_POSTGRES: process.env.SVC_POSTGRES } });
const missing = !tree || !canMakeStandby(tree.binDir) ? " [skipped: no pg_basebackup]" : "";

const write = procedure.mutation
  .name("crash.write")
  .input(v.object({ title: v.string() }))
  .handler(async ({ context, input: { title } }) => {
    await context.db.insert(notes).values({ title, userId: context.auth.requireAuth().user.id });
  });

let directory: string;
let cluster: Cluster;
let svc: TestService;
let ann: User;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "svc-crash-"));
  chmodSync(directory, 0o711); // the server's user passes
  cluster = await openCluster({ directory, env: { ...process.env, DATABASE_URL: "" } });
  await migrate({ adminUrl: cluster.urls.admin, platform: root, application: join(root, "tests/fixture") });
  svc = new TestService({ urls: cluster.urls } as unknown as Database, apiWith({ procedures: { write } }), {});
  await svc.start();
  ann = await svc.signUp("ann");
});
afterAll(async () => {
  await svc?.stop();
  await cluster?.stop();
  if (cluster?.directory) rmSync(dirname(cluster.directory), { recursive: true, force: true });
  rmSync(directory, { recursive: true, force: true });
});

test("writes while the server crashes: what is acknowledged is there, what is refused is not", async () => {
  const answers = new Map<string, string>();
  const codes = new Set<string>();
  let saved = 0;
  let writing = true;
  const writer = async (name: string) => {
    while (writing) {
      const title = crypto.randomUUID();
      const { status, body } = await svc.mutate(ann, name, { title });
      const code = status === 200 ? "saved" : `${name} ${body.code}`;
      answers.set(title, code);
      codes.add(code);
      if (status === 200) saved++;
    }
  };
  const writers = Array.from({ length: 6 }, (_, index) => writer(index % 3 ? "crash.write" : "notes.create"));
  const killer = async () => {
    for (let crash = 0; crash < (process.env.CHAOS_ROUNDS ? 20 : 4); crash++) {
      const goal = saved + 30;
      await expect.poll(() => saved, { interval: 5 }).toBeGreaterThan(goal);
      process.kill(serverPid(cluster), "SIGKILL");
    }
    const goal = saved + 30;
    await expect.poll(() => saved).toBeGreaterThan(goal);
    writing = false;
  };
  await Promise.all([killer(), ...writers]);
  const admin = await connected(cluster.urls.admin);
  const { rows } = await admin.query<{ title: string }>("select title from notes");
  await admin.end();
  const there = new Set(rows.map(({ title }) => title));
  const wrong = [...answers].filter(([title, code]) =>
    code === "saved" ? !there.has(title) : code.endsWith("UNAVAILABLE") && there.has(title),
  );
  expect(wrong).toEqual([]);
  // A handler's transaction is unknown only if the crash took the place of its COMMIT with it, which is rare: the server
  // cannot tell then whose the id is.
  expect([...codes].filter((code) => !/^saved$| UNAVAILABLE$| OUTCOME_UNKNOWN$/.test(code))).toEqual([]);
  const unknown = [...answers.values()].filter((code) => code === "crash.write OUTCOME_UNKNOWN");
  expect(unknown.length).toBeLessThanOrEqual(writers.length);
}, 240_000);

describe.skipIf(missing)(`a standby that takes over${missing}`, () => {
  let standby: Standby;
  let client: pg.Client;
  const marks = new Map<string, { transaction: string; server: string; place: string }>();
  const outcome = async (name: string, place = marks.get(name)?.place ?? null) => {
    const { transaction, server } = marks.get(name) as { transaction: string; server: string };
    const text = "select svc.transaction_outcome($1, $2, $3) as it";
    return (await client.query(text, [transaction, server, place])).rows[0].it;
  };
  /** Writes as a mutation does. @param commits whether it commits */
  const begin = async (name: string, commits: boolean) => {
    const primary = await connected(cluster.urls.admin);
    await primary.query("begin");
    const enter = 'select pg_current_xact_id()::text as "transaction", svc.server_incarnation() as server';
    const { rows } = await primary.query(enter);
    await primary.query("insert into notes (user_id, title) values ($1, $2)", [ann.id, name]);
    const place = await primary.query("select pg_current_wal_insert_lsn()::text as place");
    marks.set(name, { ...rows[0], ...place.rows[0] });
    if (commits) await primary.query("commit");
    return primary;
  };

  beforeAll(async () => {
    standby = await startStandby({
      binDir: tree?.binDir ?? "",
      adminUrl: cluster.urls.admin,
      data: join(directory, "standby"),
      name: "svc_crash_standby",
      settings: { ...tree?.settings, hot_standby: "on" },
    });
    client = await standby.connect(new URL(cluster.urls.admin).pathname.slice(1));
  });
  afterAll(async () => {
    await client?.end();
    await standby?.stop();
  });

  test("tells its transactions from those that it has lost, and from others under the same id", async () => {
    const done = await begin("replicated", true);
    const open = await begin("open", false);
    const caughtUp = async () => {
      const { rows } = await open.query("select pg_current_wal_flush_lsn()::text as at");
      const text = "select pg_last_wal_replay_lsn() >= $1 as it";
      return (await client.query(text, [rows[0].at])).rows[0].it;
    };
    await (await begin("flushes", true)).end();
    await expect.poll(caughtUp).toBe(true);
    expect(await outcome("replicated")).toBe("in progress"); // it may not know yet
    // From here on the standby receives nothing.
    await client.query("alter system set primary_conninfo = ''");
    await client.query("select pg_reload_conf()");
    await expect.poll(async () => (await client.query("select from pg_stat_wal_receiver")).rowCount).toBe(0);
    const lost = await begin("lost", true);
    await client.query("select pg_promote()");

    expect(await outcome("replicated")).toBe("committed");
    expect(await outcome("replicated", null)).toBeNull(); // nobody knows how far it had come
    expect(await outcome("open")).toBe("aborted");
    expect(await outcome("lost")).toBe("aborted");
    // The new primary gives the id to another transaction, which commits.
    const id = BigInt(marks.get("lost")?.transaction ?? 0);
    for (let given = 0n; given < id; ) {
      given = BigInt((await client.query("select pg_current_xact_id()::text as it")).rows[0].it);
    }
    const { rows } = await client.query("select pg_xact_status($1) as it", [String(id)]);
    expect(rows[0].it).toBe("committed");
    expect(await outcome("lost")).toBe("aborted");
    for (const one of [done, open, lost]) await one.end();
  });
});
