// If this file fails, an operator cannot see the state of workflow runs, retry a run, or end it.
import { expect, test } from "vitest";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();

const run = (...args: string[]) => svcHere(db, fixture, args);

async function runOf(name: string, status: string): Promise<string> {
  const [row] = await db.sql(
    `insert into svc.workflow_runs (name, version, args, is_system, status, error, finished_at)
     values ($1, 1, '{"json": {"amount": 7}}', true, $2::text,
             case when $2 = 'failed' then '{"code": "INTERNAL", "message": "no such mailbox"}'::json end,
             case when $2 = 'failed' then now() end)
     returning id`,
    [name, status],
  );
  return row?.id as string;
}

test("lists, shows, retries and cancels runs", async () => {
  const failed = await runOf("test.failed", "failed");
  const queued = await runOf("test.queued", "pending");

  const all = await run("workflows", "list");
  expect(all.code).toBe(0);
  expect(all.text).toMatch(/id +status +name +as +created at \(UTC\) +error/);
  expect(all.text).toMatch(new RegExp(`${failed} +failed +test.failed +system .*no such mailbox`));
  expect(all.text).toMatch(new RegExp(`${queued} +queued +test.queued +system`));
  expect((await run("workflows", "list", "--status", "failed")).text).not.toContain("test.queued");
  expect((await run("workflows", "show", failed)).text).toMatch(/error +INTERNAL: no such mailbox/);

  expect((await run("workflows", "retry", failed)).text).toContain(`Run ${failed} continues.`);
  expect(await db.sql("select status from svc.workflow_runs where id = $1", [failed])).toEqual([{ status: "pending" }]);
  expect((await run("workflows", "cancel", queued)).text).toContain(`Run ${queued} is cancelled.`);
  const again = await run("workflows", "cancel", queued);
  expect([again.code, again.text]).toEqual([1, expect.stringContaining("has ended")]);
});

test.each([
  [["show", "nonsense"], "is not a run's id"],
  [["show", "00000000-0000-4000-8000-000000000000"], "There is no run"],
  [["list", "--status", "dead"], "--status dead is unknown"],
])("%o is refused with a way on", async (args, message) => {
  const { code, text } = await run("workflows", ...args);
  expect([code, text]).toEqual([1, expect.stringContaining(message)]);
});
