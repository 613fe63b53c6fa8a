// If this file fails, an operator cannot see who spent how much on which model.
import { beforeAll, expect, test } from "vitest";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";

const db = database();
const app = service(db);
let ann: string;

const svc = (...args: string[]) => svcHere(db, fixture, args);

beforeAll(async () => {
  const user = await app.signUp("ann");
  ann = user.email;
  const line = (userId: string | null, model: string, state: string, charged: number | null, daysAgo: number) =>
    db.sql(
      `insert into svc.ai_ledger
         (user_id, operation, model, state, reserved, charged, input_tokens, output_tokens, created_at, expires_at)
       values ($1, 'chat', $2, $3, 5, $4, 1000, 200, now() - $5 * interval '1 day', now() + interval '15 minutes')`,
      [userId, model, state, charged, daysAgo],
    );
  await line(user.id, "large", "settled", 2.5, 0);
  await line(user.id, "large", "settled", 0.1, 0);
  await line(user.id, "large", "reserved", null, 0);
  await line(user.id, "large", "released", null, 0);
  await line(user.id, "small", "settled", 0.2, 1);
  await line(null, "large", "settled", 7, 3);
  await line(null, "large", "settled", 100, 10);
});

test("a line for each day, user and model, and their sum", async () => {
  const { code, text } = await svc("ai", "usage");
  expect(code).toBe(0);
  const rows = text.split("\n").filter((line) => /^\d{4}-/.test(line));
  expect(rows.map((row) => row.replace(/^\S+ +/, "").split(/ {2,}/))).toEqual([
    [ann, "large", "3", "4000", "800", "2.6", "5"],
    [ann, "small", "1", "1000", "200", "0.2", "-"],
    ["system", "large", "1", "1000", "200", "7", "-"],
  ]);
  expect(text).toContain("9.8 credits in 7 days.");
});

test("can be asked for one user, one model and other days", async () => {
  expect((await svc("ai", "usage", "--user", ann, "--model", "small")).text).toContain("0.2 credits in 7 days.");
  expect((await svc("ai", "usage", "--days", "11")).text).toContain("109.8 credits in 11 days.");
  expect((await svc("ai", "usage", "--limit", "1")).text).toContain(
    "2.6 credits in 7 days, counting only the first 1 rows.",
  );
});

test("wrong numbers are refused", async () => {
  expect(await svc("ai", "usage", "--days", "some")).toMatchObject({
    code: 1,
    text: expect.stringContaining("--days some is not a whole number"),
  });
});
