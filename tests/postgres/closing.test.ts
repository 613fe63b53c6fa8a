// If this file fails, a worker that stops while a connection is returned late ends with an unhandled error, which its
// supervisor takes for a crash.
import { pino } from "pino";
import { expect, test } from "vitest";
import { createPool } from "../../src/postgres/pools.ts";
import { database } from "../support/database.ts";

const db = database();
const settings = {
  request: 1,
  system: 1,
  auth: 1,
  waitMs: 5_000,
  statementTimeoutMs: 5_000,
  idleInTransactionMs: 5_000,
};

test("a connection may be given back after its pool is closed, and is broken by then", async () => {
  const { pool, close } = createPool("system", db.urls.system, settings, pino({ level: "silent" }));
  const client = await pool.connect();
  await close();
  await expect(client.query("select 1")).rejects.toThrow();
  expect(() => client.release(true)).not.toThrow();
});
