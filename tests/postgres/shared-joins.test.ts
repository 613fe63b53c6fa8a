// If this file fails, a read joins a connection on which it delays others or waits for them, a statement is prepared twice,
// a read is sent again that has its answer, or a process remembers every statement that was ever quick.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { OnePool } from "../../src/postgres/pools.ts";
import { runPacket } from "../../src/postgres/shared-reads.ts";
import { database } from "../support/database.ts";
import { as, isReturned, open, prepare, type Question, readOn, size, waitForLock } from "./shared-reader.ts";

const db = database();
let all: OnePool;
beforeAll(async () => {
  await db.sql(waitForLock);
  all = open(db.url("request"));
});
afterAll(() => all.close());
beforeEach(() => db.sql("select pg_advisory_lock(35)"));
const unlock = () => db.sql("select pg_advisory_unlock_all()");
afterEach(unlock);

const waiting = async () => {
  const [row] = await db.sql<{ count: number }>(
    `select count(*)::int from pg_locks l join pg_database d on d.oid = l.database
      where l.locktype = 'advisory' and not l.granted and d.datname = current_database()`,
  );
  return row?.count ?? 0;
};
/** A read that waits for the lock, and has a connection. */
async function slowRead(on: OnePool, question: Question = {}) {
  const before = await waiting();
  const answer = readOn(on, { ...question, waits: true });
  answer.catch(() => {}); // awaited later
  await expect.poll(waiting).toBe(before + 1);
  return { answer };
}

/** Its last answer was quick, unless the process stopped for 10 ms just then. */
const answerAtOnce = (on: OnePool, name: string) => runPacket(on.pool, as("somebody"), [name], async () => null);
/** For tests that fail where a read does not join. */
const mostlyJoins = { retry: 4 };

test("a read joins one that is under way; while that is slow, it is sent again", mostlyJoins, async () => {
  await prepare(all);
  await answerAtOnce(all, "who");
  const { answer } = await slowRead(all);
  expect((await readOn(all)).sent).toBe(2);
  await unlock();
  expect((await answer).sent).toBe(1);
});

test.each<[string, Question, Question]>([
  ["a read that was slow joins no quick one", {}, { name: "slow" }],
  ["a quick read joins none that was slow", { name: "slow" }, {}],
])("%s", async (_, first, second) => {
  await prepare(all, ["slow", "who"]);
  await readOn(all, { name: "slow", seconds: 0.1 });
  await answerAtOnce(all, "who");
  const { answer } = await slowRead(all, first);
  expect((await readOn(all, second)).sent).toBe(1);
  await unlock();
  await answer;
});

test("a read does not join a connection that has not prepared its statement", async () => {
  await prepare(all);
  // The connection that was returned last is the next one that is lent.
  await readOn(all, { name: "on one" });
  for (const name of ["who", "on one"]) await answerAtOnce(all, name);
  const ofBob = await slowRead(all, { identity: as("bob") });
  const ofAnn = await slowRead(all);
  expect((await readOn(all, { name: "on one" })).sent).toBe(1);
  await unlock();
  await Promise.all([ofBob.answer, ofAnn.answer]);
});

test("a read that waits for a connection of its own is not sent again when it has its answer", async () => {
  const one = open(db.url("request"), size, 1);
  try {
    await unlock();
    await prepare(one);
    await answerAtOnce(one, "who");
    await db.sql("select pg_advisory_lock(35)");
    const { answer } = await slowRead(one);
    const joined = [readOn(one), readOn(one)];
    await expect.poll(() => one.pool.waitingCount).toBe(2);
    await unlock();
    await answer;
    const answers = await Promise.all(joined);
    await expect.poll(() => isReturned(one)).toBe(true);
    expect(answers.map(({ sent }) => sent)).toEqual([1, 1]);
  } finally {
    await unlock();
    await one.close();
  }
});

test("a read that gets no connection of its own in time waits for the answer on the other's", mostlyJoins, async () => {
  const one = open(db.url("request"), size, 1, 200);
  try {
    await unlock();
    await readOn(one);
    await answerAtOnce(one, "who");
    await db.sql("select pg_advisory_lock(35)");
    const { answer } = await slowRead(one);
    const joined = readOn(one);
    await expect.poll(() => one.pool.waitingCount).toBe(1);
    await expect.poll(() => one.pool.waitingCount).toBe(0);
    await unlock();
    await answer;
    expect(await joined).toMatchObject({ user: "ann", sent: 1 });
  } finally {
    await unlock();
    await one.close();
  }
});

test("a call that got no connection gives its share back", async () => {
  const none = open("postgres://nobody@127.0.0.1:1/none", 1, 1, 2_000);
  const refused = { code: "UNAVAILABLE", cause: { code: "ECONNREFUSED" } };
  for (let turn = 0; turn < 2; turn++) await expect(readOn(none)).rejects.toMatchObject(refused);
  await none.close();
});

test("a thousand statements are remembered as quick: those before them share nothing", async () => {
  await prepare(all);
  await answerAtOnce(all, "who");
  // A few more: some may have taken long, and those of the other tests were there first.
  for (let number = 0; number < 1_010; number++) await answerAtOnce(all, `${number}`);
  const { answer } = await slowRead(all);
  expect((await readOn(all)).sent).toBe(1);
  await unlock();
  await answer;
});
