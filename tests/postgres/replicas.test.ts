// If this file fails, somebody who has just changed something does not see it, because a standby answered that had not got it;
// or standbys are never asked. Needs pg_basebackup; without it these tests are skipped.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { createAuthClient, createSvcClient, mutation, query } from "../../client/sdk/src/index.ts";
import { canMakeStandby, type Standby, startStandby } from "../../scripts/rehearse/standby.ts";
import { examineReplicas } from "../../src/cli/doctor-connections.ts";
import { provision } from "../../src/postgres/cluster.ts";
import type { crud } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, bearer, TestService, type User } from "../support/service.ts";
import { until } from "../support/worker.ts";

const tree = await provision({ directory: join(root, ".svc"), env: { SVC_POSTGRES: process.env.SVC_POSTGRES } });
const missing = !tree || !canMakeStandby(tree.binDir) ? " [skipped: no pg_basebackup]" : "";

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
      settings: { ...tree?.settings, fsync: "off", max_connections: "300", max_wal_senders: "50", hot_standby: "on" },
    });
    admin = await standby.connect(db.name);
    const url = new URL(db.url("request"));
    url.port = String(standby.port);
    running = new TestService(db, apiWith(), { database: { replicas: [url.href] } } as never);
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

  /** Calls a procedure and says where the answer stands. */
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
  /** What the standby has, it keeps from now on. */
  const pause = async () => {
    await admin.query("select pg_wal_replay_pause()"); // asks for it
    const isPaused = "select pg_get_wal_replay_pause_state() = 'paused' as it";
    await until(async () => (await admin.query(isPaused)).rows[0].it);
  };
  const resume = () => admin.query("select pg_wal_replay_resume()");
  /** Until a call with this position is answered by the standby, which says no position. */
  const levelWith = (position: string | null) => until(async () => (await list(position ?? "")).position === null);

  test("one that has what the caller has seen answers; one that lags does not, however often it is asked", async () => {
    const { position } = await create("first");
    await levelWith(position);
    await pause();
    try {
      const second = await create("second");
      // Who has not seen the second one may get the standby's answer.
      expect((await list(position as string)).json.total).toBe(1);
      for (let attempt = 0; attempt < 5; attempt++) {
        const seen = await list(second.position as string);
        expect(seen.json.total).toBe(2);
        expect(seen.position).not.toBeNull();
      }
      // Who says nothing, or nonsense, or is new, gets what is there.
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
      // The client's position is the standby's now; what follows is no mutation that it knows of.
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

  test("without it the primary answers, and svc doctor says why", async () => {
    const { position } = await create("third");
    await levelWith(position);
    const url = new URL(db.url("request"));
    url.port = String(standby.port);
    expect(await examineReplicas([url.href, db.url("request")])).toMatchObject([
      { kind: "ok", text: "standby 1 of DATABASE_REPLICA_URLS: it answers" },
      { kind: "advice", text: expect.stringContaining("hot_standby_feedback = on") },
      { kind: "advice", text: expect.stringContaining("is no standby") },
    ]);
    await standby.stop();
    expect(await examineReplicas([url.href])).toMatchObject([{ text: expect.stringContaining("does not answer") }]);
    const { json } = await list(position as string);
    expect(json.data.map(({ title }: { title: string }) => title)).toContain("third");
  });
});
