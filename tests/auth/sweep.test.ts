// If this file fails, expired sessions are never removed, or live ones are.
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Sweeper } from "../../src/auth/sweeper.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";

const db = database();
let pool: pg.Pool;
let sweeper: Sweeper;
beforeAll(async () => {
  pool = db.pool("auth", 2);
  sweeper = new Sweeper(pool, createLog("silent"));
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@example.com')`);
});
afterAll(async () => {
  await sweeper.close();
  await pool.end();
});

/** 2,500 of each kind that have expired, 100 that have not. */
beforeEach(async () => {
  await db.sql("truncate auth.session, auth.verification");
  for (const [name, count, left] of [
    ["old", 2_500, "-1 second"],
    ["new", 100, "1 hour"],
  ]) {
    await db.sql(
      `insert into auth.session (id, user_id, token, expires_at)
       select $1 || n, 'ann', $1 || n, now() + $3::interval from generate_series(1, $2::int) n`,
      [name, count, left],
    );
    await db.sql(
      `insert into auth.verification (id, identifier, value, expires_at)
       select $1 || n, 'x', 'y', now() + $3::interval from generate_series(1, $2::int) n`,
      [name, count, left],
    );
  }
});

const left = () =>
  db.sql(`select 'session' as kind, left(id, 3) as name, count(*)::int from auth.session group by 2
    union all select 'verification', left(id, 3), count(*)::int from auth.verification group by 2 order by 1, 2`);
const clean = [
  { kind: "session", name: "new", count: 100 },
  { kind: "verification", name: "new", count: 100 },
];

test("what has expired is removed, in several batches, and nothing else", async () => {
  await sweeper.sweep();
  expect(await left()).toEqual(clean);
});

test("a row that somebody is using stays, without anybody waiting", async () => {
  const user = await db.connect("admin");
  await user.query("begin; update auth.session set user_agent = 'x' where id = 'old7'");
  await sweeper.sweep();
  expect(await left()).toEqual([clean[0], { kind: "session", name: "old", count: 1 }, clean[1]]);
  await user.query("rollback");
  await sweeper.sweep();
  expect(await left()).toEqual(clean);
});

test("one process at a time does it; another one comes back later", async () => {
  const other = await db.connect("auth");
  await other.query("begin");
  expect((await other.query("select auth.sweep(10)")).rows).toEqual([{ sweep: 10 }]);
  await sweeper.sweep();
  await other.query("commit");
  const [, old] = await left();
  expect(old).toEqual({ kind: "session", name: "old", count: 2_490 });
});

test("requests may not call it", async () => {
  const request = await db.connect("request");
  await expect(request.query("select auth.sweep(1)")).rejects.toMatchObject({ code: "42501" });
});

test("an API key that has expired is listed for 30 days", async () => {
  await db.sql(`insert into auth.api_key (id, user_id, name, start, hash, scopes, expires_at)
    select id, 'ann', 'x', 'svc_', sha256(id::bytea), '{*}', now() - age
      from (values ('listed', interval '29 days'), ('old', '31 days')) as k (id, age)`);
  await sweeper.sweep();
  expect(await db.sql("select id from auth.api_key")).toEqual([{ id: "listed" }]);
});
