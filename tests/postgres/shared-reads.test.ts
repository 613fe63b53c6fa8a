// If this file fails, reads that share a connection get the answer of another, another caller joins them, a slow read
// delays those behind it until it ends, or connections are not returned.
import type { Socket } from "node:net";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { isConnectionLoss } from "../../src/postgres/errors.ts";
import { type Identity, identityOfUser } from "../../src/postgres/identity.ts";
import type { OnePool } from "../../src/postgres/pools.ts";
import { database } from "../support/database.ts";
import { fc } from "../support/properties.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import {
  as,
  isReturned as isPoolReturned,
  open as openPool,
  prepare,
  type Question,
  readOn,
  size,
  waitForLock,
} from "./shared-reader.ts";

const db = database();
const open = (perCaller = size, url = db.url("request")) => openPool(url, perCaller);
let all: OnePool;
beforeAll(async () => {
  await db.sql(waitForLock);
  all = open();
});
afterAll(() => all.close());

const read = ({ on = all, ...question }: Question & { on?: OnePool } = {}) => readOn(on, question);
const isReturned = (on = all) => isPoolReturned(on);
const backends = (answers: { backend: number }[]) => new Set(answers.map(({ backend }) => backend)).size;
const lock = () => db.sql("select pg_advisory_lock(35)");
const unlock = () => db.sql("select pg_advisory_unlock_all()");
/** Backends of this file's database that wait for the lock. */
const waiting = async () => {
  const rows = await db.sql<{ pid: number }>(
    `select l.pid from pg_locks l join pg_database d on d.oid = l.database
      where l.locktype = 'advisory' and not l.granted and d.datname = current_database()`,
  );
  return rows.map(({ pid }) => pid);
};

/** A read that waits for the lock, and has a connection. */
async function slowRead(question: Question & { on?: OnePool } = {}) {
  const before = (await waiting()).length;
  const answer = read({ ...question, waits: true });
  answer.catch(() => {}); // awaited later
  await expect.poll(async () => (await waiting()).length).toBe(before + 1);
  return { answer };
}

beforeEach(() => prepare(all));
afterEach(unlock);

test("reads of one caller share a connection while they are under way, up to four", async () => {
  let shared = 0;
  for (let round = 0; round < 200; round++) {
    const first = read();
    await setImmediate(); // it has its connection, and mostly no answer yet
    const questions = ["1", "2", "3", "4", "5", "6"];
    const answers = await Promise.all([first, ...questions.map((question) => read({ question }))]);
    expect(answers.map(({ answered }) => answered)).toEqual(["?", ...questions]);
    const ofFirst = answers.filter(({ backend }) => backend === answers[0]?.backend).length;
    expect(ofFirst).toBeLessThanOrEqual(4);
    if (ofFirst === 4) shared++;
  }
  expect(shared).toBeGreaterThan(0);
  expect(isReturned()).toBe(true);
});

const anonymous: Identity = { ...as("ann"), role: "svc_anonymous" };
test.each<[string, Question]>([
  ["a read of another user", { identity: as("bob") }],
  ["a read of another holder of the share", { identity: as("ann", "a network") }],
  ["a read of another role", { identity: anonymous }],
  ["a read by an API key of the user", { identity: identityOfUser("ann", "ann", ["notes:read"]) }],
  ["a read without a holder", { identity: identityOfUser("ann") }],
  ["a packet without names, such as a write", { shares: false }],
])("%s does not join", async (_, question) => {
  await lock();
  const { answer } = await slowRead();
  const others = await Promise.all([read(question), read({ ...question, question: "second" })]);
  const { setting } = question.identity ?? as("ann");
  expect(others).toMatchObject([
    { user: setting, sent: 1 },
    { user: setting, answered: "second", sent: 1 },
  ]);
  expect(all.pool.totalCount - all.pool.idleCount).toBe(1);
  await unlock();
  const { backend, user } = await answer;
  expect(user).toBe("ann");
  expect(others.map((other) => other.backend)).not.toContain(backend);
});

test("a slow read delays those behind it for a moment, and the next ones do not join it", async () => {
  await lock();
  const { answer } = await slowRead({ question: "slow" });
  const behind = await Promise.all([read({ question: "1" }), read({ question: "2" })]);
  const next = await read({ question: "3" }); // it was quick: the one behind it could join again
  expect(await read({ question: "4" })).toMatchObject({ answered: "4", sent: 1 });
  expect([...behind, next].map(({ answered }) => answered)).toEqual(["1", "2", "3"]);
  expect(await waiting()).toHaveLength(1);
  await unlock();
  const { answered, backend } = await answer;
  expect(answered).toBe("slow");
  expect([...behind, next].map((one) => one.backend)).not.toContain(backend);
  await expect.poll(() => isReturned()).toBe(true);
});

test("a slow read that joined is sent again once, and its connection returns after the answer that nobody awaits", async () => {
  await lock();
  const { answer } = await slowRead();
  const joined = read({ question: "joined", waits: true });
  await expect.poll(waiting).toHaveLength(2); // the first one, and the second one on a connection of its own
  const { pool } = all;
  expect(pool.totalCount - pool.idleCount).toBe(2);
  await unlock();
  expect((await joined).answered).toBe("joined");
  await answer;
  await expect.poll(() => isReturned()).toBe(true);
});

test("a caller holds no more connections than its share, and reads behind a slow one are answered at last", async () => {
  const two = open(2);
  try {
    await prepare(two);
    await lock();
    const slow = [
      await slowRead({ on: two, question: "0" }),
      await slowRead({ on: two, question: "1", shares: false }),
    ];
    const behind = ["2", "3", "4", "5"].map((question) => read({ on: two, question, waits: true }));
    // Some have joined the first one and would be sent again by now, if the caller had a connection left.
    expect((await read({ on: two, identity: as("bob") })).user).toBe("bob");
    await sleep(150);
    expect(await waiting()).toHaveLength(2);
    await unlock();
    const answers = await Promise.all([...slow.map(({ answer }) => answer), ...behind]);
    expect(answers.map(({ answered }) => answered)).toEqual(["0", "1", "2", "3", "4", "5"]);
    await expect.poll(() => isReturned(two)).toBe(true);

    // Each share was given back once: again there are two, not more.
    await lock();
    const again = Array.from({ length: 5 }, () => read({ on: two, waits: true, shares: false }));
    expect((await read({ on: two, identity: as("bob") })).user).toBe("bob");
    await expect.poll(waiting).toHaveLength(2);
    await unlock();
    await Promise.all(again);
  } finally {
    await unlock();
    await two.close();
  }
});

test("an error is that of its own read, and nothing of it stays on the connection", async () => {
  let shared = 0;
  for (let round = 0; round < 50; round++) {
    const first = read();
    await setImmediate();
    const [begun, failed, last] = await Promise.allSettled([first, read({ divisor: 0 }), read({ question: "last" })]);
    if (begun?.status !== "fulfilled" || last?.status !== "fulfilled") throw new Error("A read failed with another.");
    expect(failed).toMatchObject({ status: "rejected", reason: { code: "22012" } });
    expect(last.value.answered).toBe("last");
    if (begun.value.backend === last.value.backend) shared++;
  }
  expect(shared).toBeGreaterThan(0);
  const { rows } = await all.pool.query("select current_user as role, current_setting('svc.user_id', true) as id");
  expect(rows).toEqual([{ role: "svc_request", id: "" }]);
  expect(isReturned()).toBe(true);
});

test("a backend that is killed fails the reads on it, and its connection is closed once", async () => {
  let lost = 0;
  for (let round = 0; round < 10; round++) {
    await prepare(all);
    await lock();
    const { answer } = await slowRead({ question: "0" });
    const behind = ["1", "2", "3"].map((question) => read({ question }));
    const settled = Promise.allSettled([answer, ...behind]);
    await db.sql("select pg_terminate_backend(pid) from unnest($1::int[]) as pid", [await waiting()]);
    const results = await settled;
    await unlock();
    expect(results[0]?.status).toBe("rejected");
    for (const [index, result] of results.entries()) {
      if (result.status === "fulfilled") expect(result.value.answered).toBe(String(index));
      else expect(isConnectionLoss(result.reason)).toBe(true);
      if (index > 0 && result.status === "rejected") lost++;
    }
    await expect.poll(() => isReturned()).toBe(true);
  }
  expect(lost).toBeGreaterThan(0);
  await lock();
  const whole = Array.from({ length: size }, () => read({ waits: true, shares: false }));
  await expect.poll(waiting).toHaveLength(size);
  await unlock();
  expect(backends(await Promise.all(whole))).toBe(size);
});

/** As poolers do, it gives its clients process numbers that no backend has. */
class Renumbering extends TcpProxy {
  protected forward(client: Socket): void {
    const upstream = this.connect();
    client.pipe(upstream);
    let isFirst = true;
    upstream.on("data", (bytes) => {
      // BackendKeyData: the process number, and the key that cancels.
      const at = isFirst ? bytes.indexOf(Buffer.from([0x4b, 0, 0, 0, 12])) : -1;
      if (at >= 0) {
        bytes.writeInt32BE(2_000_000_000, at + 5);
        isFirst = false;
      }
      client.write(bytes);
    });
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  }
}

test("behind a pooler nothing is shared", async () => {
  const proxy = await new Renumbering(db.url("request")).listen();
  const pooled = open(size, proxy.url);
  try {
    await prepare(pooled);
    await lock();
    const { answer } = await slowRead({ on: pooled });
    const others = [read({ on: pooled, waits: true }), read({ on: pooled, waits: true })];
    await expect.poll(waiting).toHaveLength(3);
    expect(pooled.pool.totalCount - pooled.pool.idleCount).toBe(3); // none was sent twice
    await unlock();
    expect(backends(await Promise.all([answer, ...others]))).toBe(3);
  } finally {
    await pooled.close();
    await proxy.stop();
  }
});

test("each of a thousand reads of several callers gets its own answer", async () => {
  const names = ["who", "who else", "who again"];
  await prepare(all, names);
  const question = fc.record({
    identity: fc.constantFrom("ann", "bob", "cem", "dee").map((user) => as(user)),
    name: fc.constantFrom(...names, "never seen", "seen later"),
    divisor: fc.constantFrom(1, 1, 1, 1, 0),
    seconds: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0.001, 0.005, 0.08),
    shares: fc.constantFrom(true, true, true, true, true, false),
    pause: fc.constantFrom(false, false, true),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(question, { minLength: 1000, maxLength: 1000 }), async (questions) => {
      const asked: Promise<unknown>[] = [];
      for (const [index, { pause, ...one }] of questions.entries()) {
        const expected = one.divisor ? [one.identity.userId, String(index)] : "22012";
        const found = read({ ...one, question: String(index) }).then(
          ({ user, answered }) => [user, answered],
          (error) => error.code ?? error,
        );
        asked.push(found.then((got) => expect(got).toEqual(expected)));
        if (pause) await setImmediate();
        if (index % 40 === 0) await Promise.all(asked);
      }
      await Promise.all(asked);
    }),
    { numRuns: 2, endOnFailure: true },
  );
  await expect.poll(() => isReturned()).toBe(true);
});
