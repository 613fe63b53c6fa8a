// If this file fails, a call that ends while one of its statements is under way keeps a connection for ever: after as many
// such calls as the pool has connections, no call is answered.
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { acquire } from "../../src/postgres/acquire.ts";
import { identityOfUser } from "../../src/postgres/identity.ts";
import { createPool, type OnePool } from "../../src/postgres/pools.ts";
import { RequestTransaction } from "../../src/postgres/transaction.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";
import { FlakyProxy } from "../support/flaky-proxy.ts";

const db = database();
const limits = { statementTimeoutMs: 10_000, idleInTransactionMs: 60_000 };
const identity = identityOfUser("ann", "ann");

let request: OnePool;
beforeAll(() => {
  const settings = { request: 2, system: 1, auth: 1, perCaller: 2, waitMs: 5_000, ...limits };
  request = createPool("request", db.url("request"), settings, createLog("silent"));
});
afterAll(() => request.close());

const failing = { text: "select 1 / (case when pg_sleep(0.05) is null then 1 else 0 end)" };

test.each(["rollback", "commit"] as const)("%s returns the connection while a statement fails", async (end) => {
  for (let round = 0; round < 3; round++) {
    const transaction = new RequestTransaction(request.pool, identity, "write", limits);
    await transaction.query({ text: "select 1" });
    const tried = transaction.tryAsLogin(failing).catch((error) => error);
    const ended = await transaction[end]().catch((error) => error);
    if (end === "commit") expect(ended).toMatchObject({ code: "CONFLICT" });
    expect(await tried).toBeInstanceOf(Error);
    await sleep(0);
    expect({ free: request.pool.idleCount, all: request.pool.totalCount }).toEqual({
      free: request.pool.totalCount,
      all: request.pool.totalCount,
    });
  }
});

// Each of them kept a part of its caller's share: after an outage, callers who had tried would get no connection.
test("a connection that could not be opened takes nothing of its caller's share", async () => {
  const proxy = await FlakyProxy.start(db.url("request"));
  const settings = { request: 2, system: 1, auth: 1, perCaller: 2, waitMs: 1_000, ...limits };
  const { pool, close } = createPool("request", proxy.url, settings, createLog("silent"));
  try {
    proxy.fault = () => ({ kind: "refuse" });
    for (let n = 0; n < 3; n++) await expect(acquire(pool, "ann")).rejects.toMatchObject({ code: "UNAVAILABLE" });
    proxy.fault = () => ({ kind: "none" });
    const { client, release } = await acquire(pool, "ann");
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    release();
  } finally {
    await close();
    await proxy.stop();
  }
});
