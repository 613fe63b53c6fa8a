// If this file fails, a user's JWTs stay valid after a change of the user, or the database sends needless notices.
import type pg from "pg";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
let listener: pg.Client;
let heard: unknown[];
beforeAll(async () => {
  await db.sql(`set role svc_owner; alter table auth."user" add role text, add settings json; reset role`);
  listener = await db.connect("admin");
  listener.on("notification", ({ payload }) => heard.push(payload));
  await listener.query("listen svc_auth");
});

const change = (set: string) => db.sql(`update auth."user" set ${set} where id = 'ann'`);
const version = async () => {
  const [row] = await db.sql<{ version: string }>(
    `select floor(extract(epoch from updated_at) * 1000) as version from auth."user" where id = 'ann'`,
  );
  return Number(row?.version);
};
/** Notices so far, in commit order. */
async function notices(): Promise<unknown[]> {
  await db.sql("notify svc_auth, 'end'");
  await expect.poll(() => heard.at(-1), { interval: 5 }).toBe("end");
  return heard.slice(0, -1).map((payload) => JSON.parse(String(payload)));
}
const sessions = (count: number, left: string) =>
  db.sql(
    `insert into auth.session (id, user_id, token, expires_at)
     select 's' || n, 'ann', 't' || n, now() + $2::interval from generate_series(1, $1) n`,
    [count, left],
  );

beforeEach(async () => {
  await db.sql(`delete from auth."user"`);
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@example.com')`);
  heard = [];
  await notices();
  heard = [];
});

describe("the version of a user", () => {
  test.for([
    "role = 'admin'",
    "role = null, name = 'Another'",
    "email = 'other@example.com'",
    "email_verified = true",
    `settings = '{"a":1}'`,
    "role = 'x', updated_at = '2000-01-01'",
    "role = 'x', updated_at = '2100-01-01'",
  ])("grows with %s, and is told once", async (set) => {
    const before = await version();
    await change(set);
    expect(await version()).toBeGreaterThan(before);
    expect(await version()).toBeLessThan(before + 60_000);
    expect(await notices()).toEqual([{ user: "ann" }]);
  });

  test.for(["name = name", "updated_at = now()", "name = 'Ann', updated_at = '2100-01-01'"])(
    "stays with %s, and nothing is told",
    async (set) => {
      const before = await version();
      await change(set);
      expect(await version()).toBe(before);
      expect(await notices()).toEqual([]);
    },
  );

  test("is another one for each of many changes within a millisecond, in one transaction, and after a clock that was ahead", async () => {
    const versions = [await version()];
    await db.sql(`do $$ begin
      for n in 1..50 loop update auth."user" set role = n::text where id = 'ann'; end loop;
    end $$`);
    versions.push(await version());
    expect(versions[1]).toBeGreaterThanOrEqual(Number(versions[0]) + 50);

    await db.sql(`alter table auth."user" disable trigger advance_version`);
    await change("updated_at = '2100-01-01'");
    await db.sql(`alter table auth."user" enable trigger advance_version`);
    await change("role = 'later'");
    expect(await version()).toBe(Date.UTC(2100, 0, 1) + 1);
  });

  test("is told with the commit only", async () => {
    await db.sql(`begin`);
    await change("role = 'never'");
    await db.sql(`rollback`);
    expect(await notices()).toEqual([]);
  });
});

describe("the end of a session", () => {
  test("is told for each session of a user that is deleted", async () => {
    await sessions(3, "7 days");
    await db.sql(`delete from auth."user" where id = 'ann'`);
    const told = await notices();
    expect(told).toHaveLength(3);
    expect(told).toEqual(expect.arrayContaining(["s1", "s2", "s3"].map((session) => ({ user: "ann", session }))));
  });

  test("is told when it is brought forward, and not when it is put off", async () => {
    await sessions(2, "1 day");
    await db.sql("update auth.session set expires_at = now() + interval '7 days' where id = 's1'");
    await db.sql("update auth.session set expires_at = now() + interval '1 hour' where id = 's2'");
    expect(await notices()).toEqual([{ user: "ann", session: "s2" }]);
  });

  test("is not told of ten thousand that had expired", async () => {
    await sessions(10_000, "-1 second");
    await db.sql("delete from auth.session");
    expect(await notices()).toEqual([]);
  });

  test("is told of two thousand live ones at once, one by one", async () => {
    await sessions(2_000, "7 days");
    await db.sql("delete from auth.session");
    expect(new Set((await notices()).map((notice) => (notice as { session: string }).session)).size).toBe(2_000);
  });

  test("is told when all are truncated", async () => {
    await db.sql(`truncate auth."user" cascade`);
    expect(await notices()).toEqual([{}]);
  });
});
