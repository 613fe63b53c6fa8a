// If this file fails, a caller that reads without a pause keeps a connection from those who wait for it, or for ever.
import { setImmediate } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { OnePool } from "../../src/postgres/pools.ts";
import { database } from "../support/database.ts";
import { as, isReturned, open, prepare, type Question, readOn, waitForLock } from "./shared-reader.ts";

const db = database();
beforeAll(() => db.sql(waitForLock));

/** Three reads of a caller are under way at any moment until `stop`, so its connection never has all of its answers. */
async function readWithoutPause(on: OnePool) {
  /** Answers of each loan of the only connection. */
  let loans: number[] = [];
  on.pool.on("acquire", () => loans.push(0));
  const answers = () => loans.reduce((sum, count) => sum + count, 0);
  for (;;) {
    loans = [];
    let isOver = false;
    const one = async () => {
      for (; !isOver; loans.push((loans.pop() ?? 0) + 1)) await readOn(on, { seconds: 0.001 });
    };
    const first = one();
    while (loans.length === 0) await setImmediate();
    const reading = Promise.all([first, one(), one()]);
    const stop = async () => {
      isOver = true;
      await reading;
    };
    await expect.poll(answers, { interval: 5 }).toBeGreaterThan(40);
    if (loans.length < 4) return { stop, answers, loans: () => loans };
    await stop(); // the others were too late to join
  }
}

test.each<[string, number, Question]>([
  ["another caller who waits for a connection", 1, { identity: as("bob") }],
  ["a transaction of their own caller, who waits for its share", 2, { shares: false }],
])("a connection takes reads after its first answers, and is left to %s", async (_, connections, question) => {
  const few = open(db.url("request"), 1, connections);
  try {
    await prepare(few);
    const reading = await readWithoutPause(few);
    const before = reading.answers();
    await readOn(few, question);
    // One answer says that somebody waits, and four reads may be under way then.
    expect(reading.answers() - before).toBeLessThanOrEqual(5);
    await reading.stop();
    await expect.poll(() => isReturned(few)).toBe(true);
  } finally {
    await few.close();
  }
});

test("a connection goes back to the pool after a hundred reads, also without a pause", async () => {
  const one = open(db.url("request"), 1, 1);
  try {
    await prepare(one);
    const reading = await readWithoutPause(one);
    await expect.poll(reading.answers, { interval: 5 }).toBeGreaterThan(400);
    await reading.stop();
    expect(Math.max(...reading.loans())).toBeLessThanOrEqual(100);
  } finally {
    await one.close();
  }
});
