// If this file fails, a worker that stops while a connection is returned late ends with an unhandled error, which its
// supervisor takes for a crash; or a service does not end, because it was opening a connection.
import type pg from "pg";
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

test("a connection that is being prepared is broken when its pool is closed", async () => {
  const sleep = (client: pg.ClientBase) => client.query("select pg_sleep(600)").then(() => {});
  const { pool, close } = createPool("system", db.urls.system, settings, pino({ level: "silent" }), sleep);
  const asked = expect(pool.query("select 1")).rejects.toThrow();
  const asleep = "select from pg_stat_activity where application_name = 'svc system' and query like '%pg_sleep(600)'";
  await expect.poll(async () => (await db.sql(`${asleep} and datname = current_database()`)).length).toBe(1);
  await close();
  await asked;
});
