// If this file fails, the counters of attempts lose or invent attempts, block each other for ever, or fill the disk.
import type pg from "pg";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { networkOf } from "../../src/http/client-address.ts";
import { database } from "../support/database.ts";

const db = database();
let client: pg.Client;
beforeAll(async () => {
  client = await db.connect("auth");
});
beforeEach(() => db.sql("delete from auth.attempt"));

interface Counter {
  kind: string;
  subject: string;
  known?: string;
  most: number;
}
interface Taken {
  wait_seconds: number;
  receipt: object;
}

async function take(counters: Counter[], by: pg.Client | pg.Pool = client): Promise<Taken> {
  const { rows } = await by.query<Taken>("select * from auth.take_attempt($1, $2, $3, $4, $5)", [
    counters.map(({ kind }) => kind),
    counters.map(({ subject }) => subject),
    counters.map(({ known }) => known ?? null),
    counters.map(({ most }) => most),
    counters.map(() => 900),
  ]);
  if (!rows[0]) throw new Error("No row.");
  return rows[0];
}
const giveBack = ({ receipt }: Taken) => client.query("select auth.give_back_attempt($1)", [JSON.stringify(receipt)]);
const counts = async () =>
  Object.fromEntries(
    (await db.sql("select subject, count from auth.attempt order by 1")).map(({ subject, count }) => [subject, count]),
  );
const account = { kind: "signInsPerAccount", subject: "ann", most: 2 };
const address = { kind: "signInsPerAddress", subject: "192.0.2.1", most: 3 };

describe("an attempt", () => {
  test("is counted under each of its limits, or under none", async () => {
    for (let n = 0; n < 2; n++) expect((await take([account, address])).wait_seconds).toBe(0);
    expect((await take([account, address])).wait_seconds).toBeGreaterThan(890);
    expect(await counts()).toEqual({ ann: 2, "192.0.2.1": 2 });
    expect((await take([{ ...account, subject: "bob" }, address])).wait_seconds).toBe(0);
    expect((await take([{ ...account, subject: "bob" }, address])).wait_seconds).toBeGreaterThan(890);
    expect(await counts()).toEqual({ ann: 2, bob: 1, "192.0.2.1": 3 });
  });

  test("waits for the last of the windows that refuse it", async () => {
    for (let n = 0; n < 2; n++) await take([account]);
    for (let n = 0; n < 3; n++) await take([address]);
    await db.sql("update auth.attempt set ends_at = now() + interval '20 minutes' where subject = 'ann'");
    expect((await take([account, address])).wait_seconds).toBeGreaterThan(1190);
  });

  test("ends a window that begins later than the clock, once that was set back", async () => {
    for (let n = 0; n < 2; n++) await take([account]);
    await db.sql("update auth.attempt set began_at = began_at + interval '30 seconds'"); // others waited for the row
    expect((await take([account])).wait_seconds).toBeGreaterThan(0);
    await db.sql(
      "update auth.attempt set began_at = began_at + interval '1 year', ends_at = ends_at + interval '1 year'",
    );
    for (let n = 0; n < 2; n++) expect((await take([account])).wait_seconds).toBe(0);
    expect((await take([account])).wait_seconds).toBeGreaterThan(890);
    expect((await take([account])).wait_seconds).toBeLessThan(901);
  });

  test("that begins a window anew is kept until that window ends", async () => {
    await take([account]);
    await db.sql("update auth.attempt set began_at = began_at - '1 hour'::interval, ends_at = now() - '1 s'::interval");
    await db.sql("update auth.attempt set kept_until = ends_at");
    await take([account]);
    const kept = "select count, ends_at > now() as runs, kept_until = ends_at as kept from auth.attempt";
    expect(await db.sql(kept)).toEqual([{ count: 1, runs: true, kept: true }]);
  });

  test("that is refused does not make the window longer", async () => {
    for (let n = 0; n < 2; n++) await take([account]);
    const window = () => db.sql("select began_at, ends_at, count from auth.attempt");
    const before = await window();
    for (let n = 0; n < 5; n++) await take([account]);
    expect(await window()).toEqual(before);
  });

  test("is given back where it was counted, and not in a later window", async () => {
    const first = await take([account, address]);
    await db.sql("update auth.attempt set ends_at = now() - interval '1 second' where subject = 'ann'");
    await take([account, address]);
    await giveBack(first);
    expect(await counts()).toEqual({ ann: 1, "192.0.2.1": 1 });
    await giveBack(first);
    await giveBack(first);
    expect(await counts()).toEqual({ ann: 1, "192.0.2.1": 0 }); // never less than nothing
  });

  test("from a network that the account is known by is counted there, while that is remembered", async () => {
    const known = { ...account, known: "ann@192.0.2.1" };
    await client.query("select auth.remember_address('signInsPerAccount', 'ann@192.0.2.1')");
    await take([known]);
    expect(await counts()).toEqual({ "ann@192.0.2.1": 1 });
    const [row] = await db.sql("select kept_until > now() + interval '29 days' as long from auth.attempt");
    expect(row?.long).toBe(true);
    await client.query("select auth.remember_address('signInsPerAccount', 'ann@192.0.2.1')");
    expect(await counts()).toEqual({ "ann@192.0.2.1": 0 });
    await db.sql("update auth.attempt set kept_until = now()");
    await take([known]);
    expect(await counts()).toMatchObject({ ann: 1 });
  });
});

test("of many at the same moment, over crossing keys, exactly as many get through as are left", async () => {
  const pool = db.pool("auth", 12);
  const [a, b] = [
    { kind: "k1", subject: "a", most: 40 },
    { kind: "k2", subject: "b", most: 60 },
  ];
  const taken = await Promise.all(
    Array.from({ length: 300 }, (_, n) => {
      return n % 3 === 0 ? take([b], pool) : take(n % 2 ? [a, b] : [b, a], pool);
    }),
  );
  await pool.end();
  const through = taken.filter(({ wait_seconds }) => wait_seconds === 0);
  const counted = await counts();
  expect(counted.b).toBe(60);
  expect(counted.a).toBeLessThanOrEqual(40);
  expect(through).toHaveLength(60);
});

test("rows whose time is over go, by and by", async () => {
  await db.sql(
    `insert into auth.attempt (kind, subject, count, began_at, ends_at, kept_until)
     select 'old', n::text, 1, now() - interval '2 hours', now() - interval '1 hour', now() - interval '1 hour'
       from generate_series(1, 9) n`,
  );
  await client.query("select auth.remember_address('signInsPerAccount', 'kept')");
  const old = () => db.sql("select from auth.attempt where kind = 'old'");
  while ((await old()).length > 0) await take([account, address]);
  expect(Object.keys(await counts()).sort()).toEqual(["192.0.2.1", "ann", "kept"]);
});

test("most attempts search for no rows whose time is over", async () => {
  await db.sql(
    `insert into auth.attempt (kind, subject, count, began_at, ends_at, kept_until)
     select 'old', n::text, 1, now() - interval '2 hours', now() - interval '1 hour', now() - interval '1 hour'
       from generate_series(1, 9000) n`,
  );
  for (let n = 0; n < 30; n++) await take([account, address]);
  const [left] = await db.sql("select count(*)::integer as it from auth.attempt where kind = 'old'");
  expect(left?.it % 200).toBe(0); // those that do remove many
});

test("nobody who makes requests reads or writes the counters", async () => {
  const request = await db.connect("request");
  for (const role of ["svc_anonymous", "svc_authenticated", "none"]) {
    await request.query(`set role ${role}`);
    for (const statement of [
      "select * from auth.attempt",
      "delete from auth.attempt",
      "select * from auth.take_attempt('{}', '{}', '{}', '{}', '{}')",
      "select auth.give_back_attempt('{}')",
      "select auth.remember_address('x', 'y')",
    ]) {
      await expect(request.query(statement)).rejects.toMatchObject({ code: "42501" });
    }
  }
});

describe("the network of", () => {
  test.for([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:C000:0201", "192.0.2.1"],
    ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
    ["192.0.2.1:5678", "192.0.2.1"],
    ["[2001:db8::1]:5678", "2001:db8:0:0::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:0DB8:0000:0000:ffff:ffff:ffff:ffff", "2001:db8:0:0::/64"],
    ["2001:db8:1:2:3:4:192.0.2.1", "2001:db8:1:2::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["1::", "1:0:0:0::/64"],
    ["192.0.2.01", "unknown"],
    ["unknown", "unknown"],
    ["'; drop table x", "unknown"],
    ["", "unknown"],
    [undefined, "unknown"],
  ])("%s is %s", ([address, network]) => expect(networkOf(address)).toBe(network));
});
