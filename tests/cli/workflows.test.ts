// If this file fails, an operator cannot see how runs of workflows are doing, take one up again, or end it.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();

function svc(...args: string[]): Promise<{ code: number | null; text: string }> {
  const child = spawn(process.execPath, [join(root, "src/cli/svc.ts"), ...args, "--cwd", join(root, "tests/fixture")], {
    env: {
      ...process.env,
      DATABASE_URL: db.url("request"),
      DATABASE_SYSTEM_URL: db.url("system"),
      DATABASE_AUTH_URL: db.url("auth"),
      DATABASE_ADMIN_URL: db.url("admin"),
      DATABASE_REPLICATION_URL: db.url("replication"),
      AUTHLIB_SECRET: "a secret of at least thirty-two characters",
    },
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, text })));
}

async function runOf(name: string, status: string): Promise<string> {
  const [row] = await db.sql(
    `insert into svc.workflow_runs (name, version, args, is_system, status, error, finished_at)
     values ($1, 1, '{"json": {"amount": 7}}', true, $2,
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

  const all = await svc("workflows", "list");
  expect(all.code).toBe(0);
  expect(all.text).toMatch(/id +status +name +as +created at \(UTC\) +error/);
  expect(all.text).toMatch(new RegExp(`${failed} +failed +test.failed +system .*no such mailbox`));
  expect(all.text).toMatch(new RegExp(`${queued} +queued +test.queued +system`));
  expect((await svc("workflows", "list", "--status", "failed")).text).not.toContain("test.queued");
  expect((await svc("workflows", "show", failed)).text).toMatch(/error +INTERNAL: no such mailbox/);

  expect((await svc("workflows", "retry", failed)).text).toContain(`Run ${failed} goes on.`);
  expect(await db.sql("select status from svc.workflow_runs where id = $1", [failed])).toEqual([{ status: "pending" }]);
  expect((await svc("workflows", "cancel", queued)).text).toContain(`Run ${queued} is cancelled.`);
  const again = await svc("workflows", "cancel", queued);
  expect([again.code, again.text]).toEqual([1, expect.stringContaining("has ended")]);
}, 60_000);

test.each([
  [["show", "nonsense"], "is no run's id"],
  [["show", "00000000-0000-4000-8000-000000000000"], "There is no run"],
  [["list", "--status", "dead"], "is no status of a run"],
])("%o is refused with a way on", async (args, message) => {
  const { code, text } = await svc("workflows", ...args);
  expect([code, text]).toEqual([1, expect.stringContaining(message)]);
});
