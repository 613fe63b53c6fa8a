/** Calls of handlers on a pool of one connection, for tests of statements that stay prepared. */
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { type Identity, identityOfUser } from "../../src/postgres/identity.ts";
import { createPool, type OnePool } from "../../src/postgres/pools.ts";
import { RequestTransaction } from "../../src/postgres/transaction.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";

const limits = { statementTimeoutMs: 10_000, idleInTransactionMs: 10_000 };
export const [ann, bob, nobody] = [identityOfUser("ann"), identityOfUser("bob"), identityOfUser(null)];

/** A database with the table `owned`, whose rows are seen by their owners. Call it at the top of the file. */
export function callers() {
  const db = database();
  beforeAll(() =>
    db.sql(`
      create table owned (id int primary key, user_id text not null, size int);
      alter table owned enable row level security;
      create policy own on owned to svc_authenticated
        using (user_id = svc.current_user_id()) with check (user_id = svc.current_user_id());
      create policy open on owned for select to svc_anonymous using (id < 0);
      grant select, insert, update on owned to svc_authenticated, svc_anonymous;
      insert into owned values (-1, 'carol', 1), (1, 'ann', 10), (2, 'bob', 20)`),
  );
  afterAll(() => db.sql("drop table owned"));

  const open = (connections = 1) =>
    createPool(
      "request",
      db.url("request"),
      { request: connections, system: 1, auth: 1, perCaller: connections, waitMs: 5_000, ...limits },
      createLog("silent"),
    );
  let one: OnePool;
  beforeEach(() => {
    one = open();
  });
  afterEach(() => one.close());
  const onePool = () => one.pool;

  const begin = (identity: Identity = ann, access: "read" | "write" = "read", pool = onePool()) =>
    new RequestTransaction(pool, identity, access, limits);
  async function once(text: string, values: unknown[] = [], identity = ann, access: "read" | "write" = "read") {
    const transaction = begin(identity, access);
    try {
      const { rows } = await transaction.query({ isKept: true, text, rowMode: "array" } as pg.QueryConfig, values);
      await transaction.commit();
      return rows;
    } catch (error) {
      await transaction.rollback();
      throw error;
    }
  }
  return { db, open, pool: onePool, begin, once };
}
