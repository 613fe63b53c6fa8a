// If this file fails, a checkpoint or the end of a job is not part of the transaction that it ends, or costs a round trip
// of its own.
import type { Socket } from "node:net";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sqlState } from "../../src/postgres/errors.ts";
import { identityOfUser } from "../../src/postgres/identity.ts";
import { createPool, type OnePool } from "../../src/postgres/pools.ts";
import { RequestTransaction } from "../../src/postgres/transaction.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";

const db = database();
const limits = { statementTimeoutMs: 10_000, idleInTransactionMs: 10_000 };
const identity = identityOfUser("ann");
const insert = { text: "insert into public.guestbook (message) values ($1)" };

/** Counts how often the client sends after the server has answered. */
class Trips extends TcpProxy {
  count = 0;
  protected forward(client: Socket): void {
    const upstream = this.connect();
    let isAnswered = true;
    client.on("data", (data) => {
      if (isAnswered) this.count++;
      isAnswered = false;
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      isAnswered = true;
      client.write(data);
    });
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  }
}

let proxy: Trips;
let request: OnePool;
beforeAll(async () => {
  proxy = await new Trips(db.url("request")).listen();
  const settings = { request: 1, system: 1, auth: 1, waitMs: 5_000, ...limits };
  request = createPool("request", proxy.url, settings, createLog("silent"));
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@example.com')`);
});
afterAll(async () => {
  await request.close();
  await proxy.stop();
});

const open = () => new RequestTransaction(request.pool, identity, "write", limits);
const rows = async (message: string) => (await db.sql("select from guestbook where message = $1", [message])).length;

/** The end of a job that the worker holds, and whether it is still queued. */
async function job(worker = "worker") {
  const [row] = await db.sql("select svc_private.add_job('procedure', '{}', null, 1) as id");
  await db.sql("update graphile_worker._private_jobs set locked_by = 'worker', locked_at = now() where id = $1", [
    row?.id,
  ]);
  const last: pg.QueryConfig = { name: "finish", text: "select svc.finish_job($1, $2)", values: [row?.id, worker] };
  return { last, queued: () => db.sql("select id from graphile_worker._private_jobs where id = $1", [row?.id]) };
}

describe("the last statement of a transaction", () => {
  test("commits with it, in the round trip of COMMIT", async () => {
    const { last, queued } = await job();
    const transaction = open();
    await transaction.query(insert, ["with the end"]);
    const before = proxy.count;
    await transaction.commit(last);
    expect(proxy.count - before).toBe(1);
    expect({ rows: await rows("with the end"), queued: await queued() }).toEqual({ rows: 1, queued: [] });
  });

  test("rolls everything back when it refuses, and its error is that of the commit", async () => {
    const { last, queued } = await job("another worker");
    const transaction = open();
    await transaction.query(insert, ["refused"]);
    const error = await transaction.commit(last).catch((reason) => reason);
    expect({ code: error.code, state: sqlState(error) }).toEqual({ code: "CONFLICT", state: "SV409" });
    expect(await rows("refused")).toBe(0);
    expect(await queued()).toHaveLength(1);
  });

  test("may be the only one", async () => {
    const { last, queued } = await job();
    await open().commit(last);
    expect(await queued()).toEqual([]);
  });

  test("does not run after a statement that failed, whose error the handler ignored", async () => {
    const { last, queued } = await job();
    const transaction = open();
    await transaction.query({ text: "select 1 / 0" }).catch(() => {});
    await expect(transaction.commit(last)).rejects.toMatchObject({ code: "INTERNAL" });
    expect(await queued()).toHaveLength(1);
  });

  test("does not run after the end of the transaction, and says so", async () => {
    const { last, queued } = await job();
    const transaction = open();
    await transaction.query(insert, ["rolled back"]);
    await transaction.rollback();
    await expect(transaction.commit(last)).rejects.toThrow("used after its call had ended");
    expect(await queued()).toHaveLength(1);
  });

  test("fails with the connection", async () => {
    const { last, queued } = await job();
    const transaction = open();
    const { rows: mine } = await transaction.query({ text: "select pg_backend_pid() as pid" });
    await db.sql("select pg_terminate_backend($1, 5000)", [mine[0].pid]);
    await expect(transaction.commit(last)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await transaction.rollback();
    expect(await queued()).toHaveLength(1);
  });

  test("runs as the login, and the next transaction of the connection as its own user", async () => {
    const { last } = await job();
    await open().commit(last);
    const next = open();
    const { rows: who } = await next.query({
      text: "select current_user::text as role, current_setting('svc.user_id') as id",
    });
    await next.commit();
    expect(who).toEqual([{ role: "svc_authenticated", id: "ann" }]);
  });
});
