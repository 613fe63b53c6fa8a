// If this file fails, PostgreSQL plans each statement of a handler in each call; or a kept statement shows a caller the rows of
// another one, or takes more memory of the server than it may.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { identityOfUser } from "../../src/postgres/identity.ts";
import { maxPrepared } from "../../src/postgres/kept-statements.ts";
import { ann, bob, callers, nobody } from "./handler-calls.ts";

const { db, pool, begin, once } = callers();
/** What the pool's only connection has prepared, of handlers. */
const prepared = async () => {
  const text =
    "select name, statement, generic_plans + custom_plans as uses from pg_prepared_statements where name like 'svc % %'";
  return (await pool().query(text)).rows as { name: string; statement: string; uses: string }[];
};
const own = "select id, size from owned where size > $1 order by id";

describe("statements of handlers", () => {
  test("are prepared when they come for the second time, and described once on each connection", async () => {
    const text = `${own} -- described`;
    await once(text, [0]);
    expect(await prepared()).toEqual([]);
    await once(text, [0]);
    const client = await pool().connect();
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
        transaction.query({ isKept: true, text: "select 1 / 0" }),
        transaction.query({ isKept: true, text }, [0]),
        transaction.query({ isKept: true, text }, [0]),
      ];
      expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
      await transaction.rollback();
    }
    expect(await once(text, [0])).toEqual([[1, 10]]);
  });

  test("return rows without columns each time", async () => {
    for (let turn = 0; turn < 4; turn++) expect(await once("select from owned where id = 1")).toEqual([[]]);
  });

  test("work after a value that cannot be sent, on the same connection", async () => {
    for (const uses of [1, 3]) {
      const text = `select $1::text -- unsent ${uses}`;
      for (let turn = 0; turn < uses; turn++) await once(text, ["sent"]);
      await expect(once(text, [{ large: 1n }])).rejects.toThrow("BigInt");
      for (let turn = 0; turn < 2; turn++) expect(await once(text, ["again"])).toEqual([["again"]]);
    }
  });

  test("are a hundred at most on a connection, also after more were sent at once", async () => {
    for (let turn = 0; turn < 2; turn++) {
      const transaction = begin();
      const asked = Array.from({ length: 2 * maxPrepared }, (_, number) =>
        transaction.query({ isKept: true, text: `select ${number} as "at once", $1::int as turn` }, [turn]),
      );
      for (const [number, { rows }] of (await Promise.all(asked)).entries())
        expect(rows).toEqual([{ "at once": number, turn }]);
      await transaction.commit();
    }
    await once("select 'next'");
    await once("select 'next'");
    expect((await prepared()).length).toBeLessThanOrEqual(maxPrepared);
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

  test("of a text of 10,000 characters are prepared, and of a longer one never", async () => {
    const text = "select 1 -- ".padEnd(10_000, "x");
    for (let turn = 0; turn < 3; turn++) await once(`${text}x`);
    expect(await prepared()).toEqual([]);
    for (let turn = 0; turn < 2; turn++) await once(text);
    expect(await prepared()).toMatchObject([{ statement: text }]);
  });

  test("are known by a thousand texts at most: then the process begins anew", async () => {
    const text = `${own} -- came once`;
    await once(text, [0]);
    for (let number = 0; number < 1_000; number++) await once(`select ${number} as "text"`);
    await once(text, [0]);
    expect(await prepared()).toEqual([]);
    await once(text, [0]);
    expect(await prepared()).toMatchObject([{ statement: text }]);
  });
});

describe("a read", () => {
  const backend = "select pg_backend_pid(), current_user::text, svc.current_user_id()";
  const outside = "select current_user as role, current_setting('svc.user_id', true) as id";

  test("returns its connection before COMMIT is answered, and leaves no identity behind", async () => {
    const transaction = begin();
    await transaction.query({ isKept: true, text: backend });
    const waiting = once(backend, [], bob);
    expect(pool().waitingCount).toBe(1);
    const returned = transaction.commit();
    await returned;
    expect(pool().waitingCount).toBe(0);
    const [[pid, role, user]] = (await waiting) as [[number, string, string]];
    expect([role, user]).toEqual(["svc_authenticated", "bob"]);
    expect(await once(backend, [], nobody)).toEqual([[pid, "svc_anonymous", null]]);
    expect((await pool().query(outside)).rows).toEqual([{ role: "svc_request", id: "" }]);
  });

  test("leaves neither a job nor the scopes of a key behind", async () => {
    const acts = "select svc.current_actor(), current_setting('svc.user_id'), svc.current_user_id()";
    const job = { ...ann, isJob: true as const };
    const key = identityOfUser("ann", undefined, ["tasks:read"]);
    for (let turn = 0; turn < 4; turn++) {
      expect(await once(acts, [], job)).toEqual([["job", "ann", "ann"]]);
      expect(await once(acts, [], key)).toEqual([["key", "ann\tkey\ttasks:read", "ann"]]);
      expect(await once(acts, [], bob)).toEqual([["user", "bob", "bob"]]);
    }
  });

  test("keeps it while a statement is under way that the handler did not await", async () => {
    const transaction = begin();
    await transaction.query({ isKept: true, text: backend });
    const slow = transaction.query({ isKept: true, text: "select pg_sleep(0.3)" });
    await transaction.commit();
    expect(pool().idleCount).toBe(0);
    await slow;
    await expect.poll(() => pool().idleCount).toBe(1);
  });

  test("whose connection breaks while it is returned costs the next call a connection, and no more", async () => {
    const [[pid]] = (await once(backend)) as [[number]];
    const transaction = begin();
    await transaction.query({ isKept: true, text: "select 1" });
    await db.sql("select pg_terminate_backend($1)", [pid]);
    await sleep(50);
    await transaction.commit();
    await expect.poll(() => pool().totalCount).toBe(0);
    const [[next]] = (await once(backend)) as [[number]];
    expect(next).not.toBe(pid);
  });

  test("whose first statement loses its connection begins again on another one; a write does not", async () => {
    await db.sql(`
      create table opened (since timestamptz);
      create function end_if_older() returns int language plpgsql security definer as $$ begin
        if (select backend_start from pg_stat_activity where pid = pg_backend_pid()) < (select since from opened) then
          perform pg_terminate_backend(pg_backend_pid());
        end if;
        return 1;
      end $$`);
    for (const access of ["read", "write"] as const) {
      await once("select 1");
      await db.sql("delete from opened");
      await db.sql("insert into opened values (clock_timestamp())");
      const answer = once("select end_if_older()", [], ann, access);
      if (access === "read") expect(await answer).toEqual([[1]]);
      else await expect(answer).rejects.toMatchObject({ code: "57P01" });
    }
    await db.sql("drop table opened; drop function end_if_older()");
  });

  test("that is longer than transaction_timeout allows is not begun again, for as long once more", async () => {
    await db.sql(
      `create function take_long() returns int language plpgsql as $$ begin raise 'long' using errcode = '25P04'; end $$`,
    );
    let begun = 0;
    const count = () => void begun++;
    pool().on("acquire", count);
    await expect(once("select take_long()")).rejects.toMatchObject({ code: "25P04" });
    pool().off("acquire", count);
    expect(begun).toBe(1);
    await db.sql("drop function take_long()");
  });
});
