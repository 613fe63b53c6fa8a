// If this file fails, reads that share a connection get the answer of another, a slow read delays other callers or its own
// for long, or connections are not returned.
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Identity } from "../../src/postgres/identity.ts";
import { sendStatement } from "../../src/postgres/packet.ts";
import { createPool } from "../../src/postgres/pools.ts";
import { runPacket } from "../../src/postgres/shared-reads.ts";
import { database } from "../support/database.ts";

const db = database();
const size = 8;
let one: ReturnType<typeof createPool>;
beforeAll(() => {
  const settings = {
    request: size,
    system: 1,
    auth: 1,
    waitMs: 20_000,
    statementTimeoutMs: 20_000,
    idleInTransactionMs: 20_000,
  };
  one = createPool("request", db.url("request"), { ...settings, perCaller: size }, pino({ level: "silent" }));
});
afterAll(() => one.close());

const as = (userId: string): Identity => ({ userId, role: "svc_authenticated", holder: userId });
const text =
  "select json_build_array(pg_backend_pid(), current_setting('svc.user_id'), 1 / $3::int, pg_sleep($4::float)::text)::text " +
  "from (select set_config('svc.user_id', $1, true) as a, set_config('role', $2, true) as b offset 0) as entered " +
  "where a is not null and b is not null";

/** Tells the backend and the identity. */
async function read(userId: string, { divisor = 1, seconds = 0, names = ["who"] } = {}) {
  const { role } = as(userId);
  const json = await runPacket(one.pool, as(userId), names, (client) =>
    sendStatement(client, { name: "who", text, values: [userId, role, divisor, String(seconds)] }),
  );
  const [backend, user] = JSON.parse(json ?? "");
  return { backend, user };
}
const backends = (answers: { backend: number }[]) => new Set(answers.map(({ backend }) => backend)).size;
const isReturned = () => one.pool.idleCount === one.pool.totalCount && one.pool.waitingCount === 0;

beforeEach(async () => {
  // Every connection knows the statement, and its last answer was quick.
  await Promise.all(Array.from({ length: size }, () => read("ann", { seconds: 0.1, names: [] })));
  await read("ann");
});

test("reads of one caller share a connection while it waits", async () => {
  let shared = 0;
  for (let round = 0; round < 200; round++) {
    const first = read("ann");
    await setImmediate(); // it has its connection, and mostly no answer yet
    const answers = await Promise.all([first, read("ann"), read("ann"), read("ann")]);
    expect(new Set(answers.map(({ user }) => user))).toEqual(new Set(["ann"]));
    if (backends(answers) === 1) shared++;
  }
  expect(shared).toBeGreaterThan(0);
  expect(isReturned()).toBe(true);
});

test("reads of several callers do not, and each has its own identity", async () => {
  const users = ["ann", "bob", "eve", "ann", "bob", "eve"];
  const answers = await Promise.all(users.map((user) => read(user)));
  expect(answers.map(({ user }) => user)).toEqual(users);
  const byBackend = new Map<number, Set<string>>();
  for (const { backend, user } of answers) byBackend.set(backend, (byBackend.get(backend) ?? new Set()).add(user));
  expect(Math.max(...[...byBackend.values()].map((callers) => callers.size))).toBe(1);
});

test("packets without names, such as writes, share nothing", async () => {
  expect(backends(await Promise.all(Array.from({ length: 4 }, () => read("ann", { names: [] }))))).toBe(4);
});

test("a read that is unexpectedly slow does not hold up those behind it, and the next ones do not join it", async () => {
  let isOver = false;
  const slow = read("ann", { seconds: 10 }).then(
    () => (isOver = true),
    () => (isOver = true),
  );
  const behind = await Promise.all([read("ann"), read("ann"), read("bob")]);
  expect(behind.map(({ user }) => user)).toEqual(["ann", "ann", "bob"]);
  const next = await read("ann");
  expect(isOver).toBe(false);
  await db.sql(
    "select pg_cancel_backend(pid) from pg_stat_activity where query like '%pg_sleep%' and state = 'active' and pid <> pg_backend_pid()",
  );
  await slow;
  expect(next.user).toBe("ann");
  await expect.poll(isReturned).toBe(true);
});

test("an error is that of its own read, and nothing of it stays on the connection", async () => {
  const results = await Promise.allSettled([read("ann"), read("ann", { divisor: 0 }), read("ann")]);
  expect(results.map((one) => (one.status === "fulfilled" ? one.value.user : one.reason.code))).toEqual([
    "ann",
    "22012",
    "ann",
  ]);
  const { rows } = await one.pool.query("select current_user as role, current_setting('svc.user_id', true) as id");
  expect(rows).toEqual([{ role: "svc_request", id: "" }]);
  expect(isReturned()).toBe(true);
});

test("a connection that is lost fails all reads on it, and is not returned", async () => {
  const under = [read("ann", { seconds: 10 }), read("ann", { seconds: 10 })].map((read) =>
    read.catch((error) => error),
  );
  await sleep(20);
  await db.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep%' and state = 'active' and pid <> pg_backend_pid()",
  );
  // The one that waited in vain runs on a connection of its own by now.
  await sleep(200);
  await db.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep%' and state = 'active' and pid <> pg_backend_pid()",
  );
  for (const error of await Promise.all(under)) expect(error).toBeInstanceOf(Error);
  await expect.poll(isReturned).toBe(true);
  expect((await read("ann")).user).toBe("ann");
});
