// If this file fails, a DBA cannot learn from the command line what is wrong with the database.
import { expect, test } from "vitest";
import { fixture, svc } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();
const run = (...args: string[]) => svc(db, fixture, ["db", ...args]).ended;

test("svc db lint lists what it finds, the worst first, and fails for errors", async () => {
  const { code, out, error } = await run("lint", "--level", "warning");
  expect(code).toBe(0);
  expect(out).toMatch(
    /^warning {2}all_anyone on public.guestbook lets .* any row\.\n {2}Compare .*\n {2}rule: always_true_policy\n/m,
  );
  expect(out).not.toContain("info");
  expect(error).toMatch(/0 errors, \d+ warnings, \d+ hints\.\nWhat is meant, say in a comment/);
  expect((await run("lint", "--strict")).code).toBe(1);

  await db.sql("alter table guestbook disable row level security");
  const failed = await run("lint", "--json");
  expect(failed.code).toBe(1);
  expect(JSON.parse(failed.out)[0]).toEqual({
    severity: "error",
    rule: "policy_without_rls",
    name: "public.guestbook",
    problem: "has policies, and row-level security is off: they do nothing",
    remedy: "alter table public.guestbook enable row level security;",
  });
});

test("svc db lint refuses a severity that there is not", async () => {
  const { code, error } = await run("lint", "--level", "fatal");
  expect([code, error]).toEqual([
    1,
    expect.stringMatching(/--level fatal is unknown\.\s+There are: error, warning, info\./),
  ]);
});
