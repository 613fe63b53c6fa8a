// If this file fails, sign-ins are refused and sessions end early because a clock is wrong, and svc doctor finds nothing wrong.
import { expect, test } from "vitest";
import { examineClock } from "../../src/cli/doctor-durability.ts";
import { database } from "../support/database.ts";

const db = database();
const day = 86_400_000;

test.each([
  ["ahead of", -30 * day],
  ["behind", 60_000],
])("svc doctor says that PostgreSQL's clock is %s this machine's", async (place, shift) => {
  const pool = db.pool("system");
  expect(await examineClock(pool)).toEqual([]);
  const [found] = await examineClock(pool, () => Date.now() + shift);
  expect(found?.kind).toBe("wrong");
  expect(found?.text).toContain(
    `PostgreSQL's clock is ${place === "behind" ? "60" : "2,592,000"} s ${place} this machine's`,
  );
});
