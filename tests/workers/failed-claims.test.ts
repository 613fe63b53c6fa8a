// If this file fails, a worker that starts while the server has no connection left never takes a job, and does not say so.
import type { Socket } from "node:net";
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { createLog } from "../../src/telemetry/log.ts";
import { createQueuePool } from "../../workers/queue-pool.ts";
import { procedure } from "../fixture/backend/index.ts";
import { type Database, database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { until, workers } from "../support/worker.ts";

/** Refuses one of its connections. */
class RefusingProxy extends TcpProxy {
  connections = 0;
  readonly #refused: number;

  constructor(target: string, refused: number) {
    super(target);
    this.#refused = refused;
  }

  protected forward(client: Socket): void {
    if (++this.connections === this.#refused) return void client.destroy();
    const upstream = this.connect();
    client.pipe(upstream).pipe(client);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  }
}

const settings = {
  request: 1,
  system: 1,
  auth: 1,
  waitMs: 5_000,
  statementTimeoutMs: 5_000,
  idleInTransactionMs: 5_000,
};

test("a claim without a connection finds no job: the library would print a stack when the worker stops", async () => {
  const proxy = await new RefusingProxy(db.url("system"), 1).listen();
  const queue = createQueuePool(proxy.url, settings, createLog("silent"));
  const client = await queue.forLibrary.connect();
  const claim = { name: "get_job/graphile_worker", text: "not sent", values: ["worker", []] };
  expect((await client.query(claim)).rows).toEqual([]);
  expect(proxy.connections).toBe(1);
  expect((await client.query(claim)).rows).toEqual([]);
  expect(proxy.connections).toBe(2);
  await queue.close();
  await proxy.stop();
});

test("a full disk is logged once, and does not end the worker", async () => {
  const lines: string[] = [];
  const write = (chunk: Buffer, _: string, done: () => void) => {
    lines.push(JSON.parse(String(chunk)).msg);
    done();
  };
  const queue = createQueuePool(db.url("system"), settings, createLog("info", new Writable({ write })));
  const client = await queue.forLibrary.connect();
  const claim = () => client.query({ name: "get_job/graphile_worker", text: "not sent", values: ["worker", []] });
  const claims = "svc_private.claim_jobs(text, integer[], integer, timestamptz)";
  await db.sql(`alter function ${claims} rename to claims_jobs`);
  // As PostgreSQL refuses it.
  await db.sql(`create function svc_private.claim_jobs(text, integer[], integer, timestamptz)
    returns setof graphile_worker._private_jobs language plpgsql
    as $$ begin raise exception 'could not extend file' using errcode = 'disk_full'; end $$`);
  await db.sql(`grant execute on function ${claims} to svc_system`);
  expect((await claim()).rows).toEqual([]);
  expect((await claim()).rows).toEqual([]);
  await db.sql(`drop function ${claims}`);
  await db.sql(`alter function ${claims.replace("claim_jobs", "claims_jobs")} rename to claim_jobs`);
  await claim();
  expect(lines).toEqual([
    "this worker cannot take jobs, because PostgreSQL refuses to claim one",
    "this worker takes jobs again",
  ]);
  await queue.close();
});

test("a claim that PostgreSQL refuses is logged once, and once when claims succeed again", async () => {
  const lines: string[] = [];
  const write = (chunk: Buffer, _: string, done: () => void) => {
    lines.push(JSON.parse(String(chunk)).msg);
    done();
  };
  const queue = createQueuePool(db.url("system"), settings, createLog("info", new Writable({ write })));
  const client = await queue.forLibrary.connect();
  const claim = () => client.query({ name: "get_job/graphile_worker", text: "not sent", values: ["worker", []] });
  await db.sql(
    "revoke execute on function svc_private.claim_jobs(text, integer[], integer, timestamptz) from svc_system",
  );
  await expect(claim()).rejects.toThrow("permission denied");
  await expect(claim()).rejects.toThrow("permission denied");
  await db.sql("grant execute on function svc_private.claim_jobs(text, integer[], integer, timestamptz) to svc_system");
  await claim();
  await claim();
  expect(lines).toEqual([
    "this worker cannot take jobs, because PostgreSQL refuses to claim one",
    "this worker takes jobs again",
  ]);
  await queue.close();
});

test("the queue listens again by itself: the library's own pauses would grow to a minute", async () => {
  const proxy = await new RefusingProxy(db.url("system"), 1).listen();
  const queue = createQueuePool(proxy.url, settings, createLog("silent"));
  const answers: unknown[] = [];
  queue.forLibrary.connect((error, _client, release) => {
    answers.push(error ?? "connected");
    release();
  });
  await until(() => answers.length > 0);
  expect([answers, proxy.connections]).toEqual([["connected"], 2]);
  await queue.close();
  // As after an attempt that failed shortly before the worker stopped.
  queue.forLibrary.connect((error, _client, release) => {
    answers.push(error);
    release();
  });
  expect(answers).toEqual(["connected"]);
  await proxy.stop();
});

let ran = 0;
const count = procedure.internal.name("claims.count").handler(async () => {
  ran++;
});
const later = procedure.mutation
  .name("claims.later")
  .handler(({ context }) => context.scheduler.runAfter(0, "claims.count"));
const api = apiWith({ procedures: { count, later } });
const db = database();
const running = service(db, api);

test("a worker whose first question to the queue fails asks again, and takes jobs", async () => {
  // The first listens, the second holds the worker's lock.
  const proxy = await new RefusingProxy(db.url("system"), 3).listen();
  const start = workers({ urls: { ...db.urls, queue: proxy.url } } as unknown as Database, api);
  const worker = await start();
  const ann = await running.signUp("ann");
  expect((await running.mutate(ann, "claims.later")).status).toBe(200);
  await until(() => ran > 0);
  expect(proxy.connections).toBeGreaterThan(3);
  await worker.stop();
  await proxy.stop();
});
