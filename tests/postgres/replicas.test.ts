// If this file fails, a client does not see its own change, because a standby answered that had not received it; or
// standbys are never used. Needs pg_basebackup; skipped without it.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { createAuthClient, createSvcClient, mutation, query } from "../../client/sdk/src/index.ts";
import { canMakeStandby, type Standby, startStandby } from "../../scripts/rehearse/standby.ts";
import { examineReplicas } from "../../src/cli/doctor-connections.ts";
import { provision } from "../../src/cluster/open-cluster.ts";
import { Replicas } from "../../src/postgres/replicas.ts";
import { createLog } from "../../src/telemetry/log.ts";
import type { crud } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { apiWith, bearer, TestService, type User } from "../support/service.ts";
import { until } from "../support/worker.ts";
import { begun, onlyPrimary, procedures } from "./once.ts";

const tree = await provision({ directory: join(root, ".svc"), env: { SVC_POSTGRES: process.env.SVC_POSTGRES } });
const missing = !tree || !canMakeStandby(tree.binDir) ? " [skipped: no pg_basebackup]" : "";

/** A standby starts only with limits as high as the primary's, which tests/support/global-setup.ts sets. */
const same = { max_connections: "300", max_wal_senders: "50", max_prepared_transactions: "5" };

describe.skipIf(missing)(`standbys for queries${missing}`, () => {
  const db = database();
  const directory = mkdtempSync(join(tmpdir(), "svc-standby-"));
  let standby: Standby;
  let admin: pg.Client;
  let running: TestService;
  let ann: User;

  beforeAll(async () => {
    chmodSync(directory, 0o711); // the server's user passes
    standby = await startStandby({
      binDir: tree?.binDir ?? "",
      adminUrl: inject("urls").admin,
      data: join(directory, "data"),
      name: `svc_test_${process.pid}`,
      settings: { ...tree?.settings, ...same, fsync: "off", hot_standby: "on" },
    });
    admin = await standby.connect(db.name);
    const url = new URL(db.url("request"));
    url.port = String(standby.port);
    running = new TestService(db, apiWith({ procedures }), { database: { replicas: [url.href] } } as never);
    await running.start();
    ann = await running.signUp("ann");
  });
  afterAll(async () => {
    await running?.stop();
    await admin?.end();
    await standby?.stop();
    await db.sql("select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1", [
      `svc_test_${process.pid}`,
    ]);
    rmSync(directory, { recursive: true, force: true });
  });

  /** Calls a procedure and returns the answer with its position. */
  async function call(path: "query" | "mutation", name: string, args: unknown, position?: string) {
    const headers = {
      "content-type": "application/json",
      ...bearer(ann),
      ...(position && { "svc-position": position }),
    };
    const {
      status,
      body,
      headers: got,
    } = await running.fetch(`/api/${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify({ name, args }),
    });
    expect(status).toBe(200);
    return { json: body.json, position: got.get("svc-position") };
  }
  const list = (position?: string) => call("query", "notes.list", {}, position);
  const create = (title: string) => call("mutation", "notes.create", { title });
  /** From now on the standby receives nothing new. */
  const pause = async () => {
    await admin.query("select pg_wal_replay_pause()"); // asks for it
    const isPaused = "select pg_get_wal_replay_pause_state() = 'paused' as it";
    await until(async () => (await admin.query(isPaused)).rows[0].it);
  };
  const resume = () => admin.query("select pg_wal_replay_resume()");
  /** Waits until the standby answers a call with this position; its answers carry none. */
  const levelWith = (position: string | null) => until(async () => (await list(position ?? "")).position === null);

  test("one that has what the caller has seen answers; one that lags does not, however often it is asked", async () => {
    const { position } = await create("first");
    await levelWith(position);
    await pause();
    try {
      const second = await create("second");
      // A client that has not seen the second row may get the standby's answer.
      expect((await list(position as string)).json.total).toBe(1);
      for (let attempt = 0; attempt < 5; attempt++) {
        const seen = await list(second.position as string);
        expect(seen.json.total).toBe(2);
        expect(seen.position).not.toBeNull();
      }
      // A client without a position, with an invalid one, or a new one, gets the current rows.
      for (const said of [undefined, "new", "rubbish", "FFFFFFFFF/0"]) expect((await list(said)).json.total).toBe(2);
      expect((await list()).position).toBeNull();
    } finally {
      await resume();
    }
  });

  test("the SDK sees its own changes, those of routes too, while the standby stands still", async () => {
    const auth = createAuthClient(running.url, { sessionTokenStorage: "memory" });
    const api = {
      list: query<typeof crud.notes.list>("notes.list"),
      create: mutation<typeof crud.notes.create>("notes.create"),
    };
    const client = createSvcClient({ api, baseUrl: running.url, auth });
    const total = async () => (await client.query(api.list, {})).total;
    await auth.signUp(`bo-${crypto.randomUUID()}@example.com`, "correct horse", "Bo");
    await pause();
    try {
      for (let count = 0; count < 3; count++) {
        expect(await total()).toBe(count);
        await client.mutate(api.create, { title: `own ${count}` });
      }
      await resume();
      await levelWith((await create("later than all")).position);
      await pause();
      // The client's position is now the standby's; it knows of no later mutation.
      expect(await total()).toBe(3);
      const body = JSON.stringify({ name: "notes.create", args: { title: "by fetch" } });
      const headers = { "content-type": "application/json" };
      expect((await client.fetch("/api/mutation", { method: "POST", body, headers })).status).toBe(200);
      expect(await total()).toBe(4);
    } finally {
      await resume();
      client.close();
    }
  });

  const standbyUrl = () => Object.assign(new URL(db.url("request")), { port: String(standby.port) }).href;
  const settings = {
    request: 2,
    system: 1,
    auth: 1,
    waitMs: 5_000,
    statementTimeoutMs: 60_000,
    idleInTransactionMs: 5_000,
  };
  /** Standbys in another process. Calls back with a function that chooses one for a new client. */
  async function withReplicas(
    stalest: number,
    use: (choose: () => unknown, replicas: Replicas) => Promise<void>,
    others: string[] = [],
  ) {
    const primary = db.pool("request");
    const replicas = new Replicas([standbyUrl(), ...others], primary, settings, createLog("silent"), stalest);
    try {
      await use(() => replicas.choose(0n, "ann"), replicas);
    } finally {
      await replicas.close();
      await primary.end();
    }
  }

  test("one that stands still longer than the limit answers nobody, and everybody again when it has caught up", async () => {
    await withReplicas(1_000, async (choose, replicas) => {
      await until(() => choose() !== null);
      await pause();
      try {
        await create("unseen");
        await until(() => choose() === null);
        expect(replicas.behind).toBeGreaterThan(0);
      } finally {
        await resume();
      }
      await until(() => choose() !== null);
    });
  });

  test("one whose host has vanished does not keep the others from answering", async () => {
    const proxy = await PostgresProxy.start(standbyUrl());
    await withReplicas(
      2_000,
      async (choose, { standbys: [living, vanished] }) => {
        await until(() => [living, vanished].every((one) => Number(one?.caughtUpAt) > 0));
        proxy.mode = "falls silent";
        await until(() => performance.now() - Number(vanished?.caughtUpAt) > 3_000);
        await until(() => choose() === living); // which may be behind for a moment
      },
      [proxy.url],
    );
    await proxy.stop();
  });

  test("one that is always a little behind answers, though it is never level with the primary", async () => {
    const delay = async (setting: string) => {
      await admin.query(`alter system set recovery_min_apply_delay = '${setting}'`);
      await admin.query("select pg_reload_conf()");
    };
    let isOver = false;
    const writing = (async () => {
      while (!isOver) await db.sql("insert into guestbook (message) values ('on and on')");
    })();
    try {
      const isBehind = async () => {
        const { rows } = await admin.query("select now() - pg_last_xact_replay_timestamp() > '450 ms' as it");
        return rows[0].it;
      };
      await until(async () => !(await isBehind())); // what is written arrives
      await delay("500ms");
      await until(isBehind);
      await withReplicas(60_000, (choose) => until(() => choose() !== null));
    } finally {
      isOver = true;
      await writing;
      await delay("0");
    }
  });

  test.runIf(process.env.CHAOS_ROUNDS)("the limit is five seconds", async () => {
    const { position } = await create("before");
    await levelWith(position);
    await pause();
    const paused = performance.now();
    try {
      await create("after");
      await until(async () => (await list(position as string)).position !== null);
      expect((performance.now() - paused) / 1000).toBeGreaterThan(4.8);
      expect((performance.now() - paused) / 1000).toBeLessThan(6);
    } finally {
      await resume();
    }
  });

  test("metrics tell how far behind it is, what it answered, and what came back to the primary", async () => {
    const { position } = await create("counted");
    await levelWith(position);
    await pause();
    try {
      await list((await create("ahead")).position as string);
      const { body } = await running.fetch("/metrics");
      expect(body).toMatch(/^svc_standby_up\{standby="1"\} 1$/m);
      expect(body).toMatch(/^svc_standby_lag_seconds\{standby="1"\} \d/m);
      expect(body).toMatch(/^svc_standby_reads_total\{standby="1",outcome="answered"\} [1-9]/m);
      expect(body).toMatch(/^svc_standby_reads_behind_total [1-9]/m);
    } finally {
      await resume();
    }
  });

  test.for([
    ["fails", 409, "its own", false],
    ["breaks", 500, undefined, false],
    ["first", 200, "the primary", true],
    ["together", 200, ["the primary", "the primary", "the primary"], true],
    ["separate", 200, "the primary", true],
    ["second", 503, undefined, false],
  ] as const)("a handler is run once: %s", async ([name, status, answer, isMoved]) => {
    await db.sql(onlyPrimary).catch(() => {}); // once for all
    const { position } = await create("for the handler");
    await levelWith(position);
    const answered = await running.fetch("/api/query", {
      method: "POST",
      headers: { "content-type": "application/json", "svc-position": position as string, ...bearer(ann) },
      body: JSON.stringify({ name: `once.${name}`, args: {} }),
    });
    expect([answered.status, begun[name]]).toEqual([status, 1]);
    if (answer !== undefined) expect(answered.body.json ?? answered.body.error).toEqual(answer);
    // The position in the primary's answer must also be in the next answer of a standby.
    expect(answered.headers.has("svc-position")).toBe(isMoved);
    expect(answered.headers.has("retry-after")).toBe(status === 503);
  });

  test("without it the primary answers, and svc doctor says why", async () => {
    const { position } = await create("third");
    await levelWith(position);
    const url = new URL(db.url("request"));
    url.port = String(standby.port);
    expect(await examineReplicas([url.href, db.url("request")], db.pool("request"))).toMatchObject([
      { kind: "ok", text: "standby 1 of DATABASE_REPLICA_URLS: it answers" },
      { kind: "advice", text: expect.stringContaining("hot_standby_feedback = on") },
      { kind: "advice", text: expect.stringContaining("is not a standby") },
    ]);
    await standby.stop();
    expect(await examineReplicas([url.href], db.pool("request"))).toMatchObject([
      { text: expect.stringContaining("does not answer") },
    ]);
    await expect.poll(async () => (await running.fetch("/metrics")).body).toMatch(/^svc_standby_up\{standby="1"\} 0$/m);
    const { json } = await list(position as string);
    expect(json.data.map(({ title }: { title: string }) => title)).toContain("third");
  });
});
