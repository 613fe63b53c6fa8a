// If this file fails, PostgreSQL plans each statement of a handler in each call; or a kept statement shows a caller the rows of
// another one, outlives a migration, or takes more memory of the server than it may.
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { databaseError } from "../../src/postgres/errors.ts";
import { type Identity, identityOfUser } from "../../src/postgres/identity.ts";
import { maxPrepared } from "../../src/postgres/kept-statements.ts";
import { createPool, type OnePool } from "../../src/postgres/pools.ts";
import { RequestTransaction } from "../../src/postgres/transaction.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";

const db = database();
const limits = { statementTimeoutMs: 10_000, idleInTransactionMs: 10_000 };
const [ann, bob, nobody] = [identityOfUser("ann"), identityOfUser("bob"), identityOfUser(null)];
let one: OnePool;
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
const open = (connections = 1) =>
  createPool(
    "request",
    db.url("request"),
    { request: connections, system: 1, auth: 1, perCaller: connections, waitMs: 5_000, ...limits },
    createLog("silent"),
  );
beforeEach(() => {
  one = open();
});
afterEach(() => one.close());

const begin = (identity: Identity = ann, access: "read" | "write" = "read", { pool }: OnePool = one) =>
  new RequestTransaction(pool, identity, access, limits);
async function once(text: string, values: unknown[] = [], identity = ann, access: "read" | "write" = "read", on = one) {
  const transaction = begin(identity, access, on);
  try {
    const { rows } = await transaction.query({ text, rowMode: "array" } as pg.QueryConfig, values);
    await transaction.commit();
    return rows;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}
/** What the pool's only connection has prepared, of handlers. */
const prepared = async () => {
  const text =
    "select name, statement, generic_plans + custom_plans as uses from pg_prepared_statements where name like 'svc % %'";
  return (await one.pool.query(text)).rows as { name: string; statement: string; uses: string }[];
};
const own = "select id, size from owned where size > $1 order by id";

describe("statements of handlers", () => {
  test("are prepared when they come for the second time, and described once on each connection", async () => {
    const text = `${own} -- described`;
    await once(text, [0]);
    expect(await prepared()).toEqual([]);
    await once(text, [0]);
    const client = await one.pool.connect();
    let described = 0;
    const { connection } = client as unknown as { connection: { describe(portal: unknown): void } };
    const describePortal = connection.describe;
    connection.describe = (portal) => {
      described++;
      describePortal.call(connection, portal);
    };
    client.release();
    for (let size = 0; size < 5; size++) expect(await once(text, [size])).toEqual([[1, 10]]);
    expect(await once(text, [10])).toEqual([]);
    expect(described).toBe(0);
    expect(await prepared()).toEqual([
      { name: expect.stringMatching(/ svc_authenticated$/), statement: text, uses: "7" },
    ]);
  });

  test("answer each caller with that caller's rows, on one connection", async () => {
    const text = `${own} -- callers`;
    for (let turn = 0; turn < 8; turn++) {
      expect(await once(text, [0], ann)).toEqual([[1, 10]]);
      expect(await once(text, [0], nobody)).toEqual([[-1, 1]]);
      expect(await once(text, [0], bob)).toEqual([[2, 20]]);
    }
    expect((await prepared()).map(({ name }) => name.split(" ").at(-1)).sort()).toEqual([
      "svc_anonymous",
      "svc_authenticated",
    ]);
  });

  test("write, return rows or none, and fail, as often as they run", async () => {
    const text = "insert into owned values ($1, 'ann', $2)";
    for (let id = 100; id < 104; id++) {
      expect(await once(text, [id, null], ann, "write")).toEqual([]);
      const returned = await once(`${text} returning id, size`, [id + 100, 5], ann, "write");
      expect(returned).toEqual([[id + 100, 5]]);
      await expect(once(text, [id, 1], ann, "write")).rejects.toMatchObject({ code: "23505" });
      await expect(once("insert into owned values ($1, 'bob', $2)", [7, 1], ann, "write")).rejects.toMatchObject({
        code: "42501",
      });
    }
    expect(await db.sql("delete from owned where id >= 100 returning id")).toHaveLength(8);
  });

  test("fail before the first of them is prepared, and work afterwards", async () => {
    const text = `${own} -- aborted`;
    for (let turn = 0; turn < 3; turn++) {
      const transaction = begin();
      const asked = [
        transaction.query({ text: "select 1 / 0" }),
        transaction.query({ text }, [0]),
        transaction.query({ text }, [0]),
      ];
      expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
      await transaction.rollback();
    }
    expect(await once(text, [0])).toEqual([[1, 10]]);
  });

  test("of a connection are a hundred at most", async () => {
    for (let number = 0; number < maxPrepared + 20; number++) {
      for (let turn = 0; turn < 3; turn++)
        expect(await once(`select ${number} as "n", $1::int`, [turn])).toEqual([[number, turn]]);
    }
    const kept = await prepared();
    expect(kept.length).toBeLessThanOrEqual(maxPrepared);
    expect(kept.length).toBeGreaterThan(maxPrepared - 10);
    expect(await once('select 0 as "n", $1::int', [9])).toEqual([[0, 9]]); // was closed
  });
});

describe("a migration that changes what a kept statement answers with", () => {
  let types = ["bigint", "text", "numeric", "int"];
  const change = async () => {
    const [type = "int", ...others] = types;
    types = [...others, type];
    await db.sql(`alter table owned alter size type ${type} using size::text::${type}`);
  };
  const text = "select size from owned order by id -- migrated";

  test("costs the first statement of a transaction nothing, on any connection", async () => {
    const several = open(3);
    try {
      for (const access of ["read", "write"] as const) {
        for (let turn = 0; turn < 3; turn++) {
          const [first, second, third] = [
            begin(ann, access, several),
            begin(ann, access, several),
            begin(ann, access, several),
          ];
          for (const transaction of [first, second, third]) await transaction.query({ text });
          for (const transaction of [first, second, third]) await transaction.commit();
        }
        await change();
        const asked = [begin(ann, access, several), begin(bob, access, several), begin(ann, access, several)];
        const sizes = await Promise.all(asked.map((transaction) => transaction.query({ text })));
        expect(sizes.map(({ rows }) => String(rows[0].size))).toEqual(["10", "20", "10"]);
        for (const transaction of asked) await transaction.commit();
      }
    } finally {
      await several.close();
    }
  });

  test("says of a later statement that the call can be sent again, and then it works", async () => {
    for (let turn = 0; turn < 3; turn++) await once(text);
    const transaction = begin();
    await transaction.query({ text: "select 1" });
    await change();
    const failure = await transaction.query({ text }).catch((error) => transaction.explain(error));
    expect(failure).toMatchObject({ code: "UNAVAILABLE", retryAfter: 1 });
    await transaction.rollback();
    expect(String((await once(text))[0])).toBe("10");
    expect(databaseError(failure, ann)).toBe(failure);
  });
});

describe("a read", () => {
  const backend = "select pg_backend_pid(), current_user::text, svc.current_user_id()";
  const outside = "select current_user as role, current_setting('svc.user_id', true) as id";

  test("returns its connection before COMMIT is answered, and leaves no identity behind", async () => {
    const transaction = begin();
    await transaction.query({ text: backend });
    const waiting = once(backend, [], bob);
    expect(one.pool.waitingCount).toBe(1);
    const returned = transaction.commit();
    await returned;
    expect(one.pool.waitingCount).toBe(0);
    const [[pid, role, user]] = (await waiting) as [[number, string, string]];
    expect([role, user]).toEqual(["svc_authenticated", "bob"]);
    expect(await once(backend, [], nobody)).toEqual([[pid, "svc_anonymous", null]]);
    expect((await one.pool.query(outside)).rows).toEqual([{ role: "svc_request", id: "" }]);
  });

  test("keeps it while a statement is under way that the handler did not await", async () => {
    const transaction = begin();
    await transaction.query({ text: backend });
    const slow = transaction.query({ text: "select pg_sleep(0.3)" });
    await transaction.commit();
    expect(one.pool.idleCount).toBe(0);
    await slow;
    await expect.poll(() => one.pool.idleCount).toBe(1);
  });

  test("whose connection breaks while it is returned costs the next call a connection, and no more", async () => {
    const [[pid]] = (await once(backend)) as [[number]];
    const transaction = begin();
    await transaction.query({ text: "select 1" });
    await db.sql("select pg_terminate_backend($1)", [pid]);
    await sleep(50);
    await transaction.commit();
    await expect.poll(() => one.pool.totalCount).toBe(0);
    const [[next]] = (await once(backend)) as [[number]];
    expect(next).not.toBe(pid);
  });
});
afterAll(() => db.sql("drop table owned"));
