// If this file fails, a run can get a state that no worker knows, and so never ends; or an upgrade rewrites the tables of
// workflows, or loses a check or an index of them.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { Database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const domains = "0093_check_runs_by_domains.sql";

const files = `
  select relname as name, relfilenode::text as file from pg_class
   where oid in ('svc.workflow_runs'::regclass, 'svc.workflow_steps'::regclass) order by 1`;
const addRun = "insert into svc.workflow_runs (name, version, args, status)";
const addStep =
  "insert into svc.workflow_steps (run_id, position, kind, name, is_done) select id, kind, kind, 's', true";

/** Statements that must be refused, by what refuses them. */
const wrong: Record<string, string> = {
  run_status_check: "update svc.workflow_runs set status = 'paused'",
  positive_integer_check: `${addRun} values ('flow', 0, '{}', 'pending')`,
  step_kind_check: "update svc.workflow_steps set kind = 'timer'",
  workflow_runs_name_check: `${addRun} values ('', 1, '{}', 'pending')`,
  workflow_runs_check: "update svc.workflow_runs set is_system = true",
  workflow_runs_check1: "update svc.workflow_runs set wait_marker = 'retry' where status = 'running'",
};

test("runs and steps of an earlier version stay where they are, and every check holds for them", async () => {
  const db = new Database();
  await db.create("template1");
  onTestFinished(() => db.drop());
  const before = readdirSync(join(root, "migrations")).sort().indexOf(domains);
  await migrate({ adminUrl: db.url("admin"), platform: root, platformMigrations: before });
  await db.sql(`
    insert into auth."user" (id, name, email, email_verified) values ('ada', 'Ada', 'ada@example.com', true);
    insert into svc.workflow_runs (name, version, args, status, user_id, max_running)
      select 'flow', 1, '{}', status, 'ada', nullif(n, 1)
        from unnest(array['pending', 'running', 'completed', 'failed', 'cancelled']) with ordinality as s (status, n);
    ${addStep} from svc.workflow_runs, unnest(array['step', 'wait', 'sleep']) as k (kind)`);
  const earlier = await db.sql(files);

  await migrate({ adminUrl: db.url("admin"), platform: root });

  expect(await db.sql(files)).toEqual(earlier);
  const client = await db.connect("admin");
  for (const [constraint, text] of Object.entries(wrong)) {
    await expect(client.query(text), text).rejects.toMatchObject({ code: "23514", constraint });
  }
  await client.query("set enable_seqscan = off");
  const plan = async (text: string) => JSON.stringify((await client.query(`explain ${text}`)).rows);
  const active = "select from svc.workflow_runs where name = 'flow' and status";
  expect(await plan(`${active} = 'running'`)).toContain("workflow_runs_active");
  expect(await plan(`${active} = any ('{pending,running}'::text[])`)).toContain("workflow_runs_active");
  const failed = "select from svc.workflow_runs where status = 'failed' order by created_at desc, id desc";
  expect(await plan(failed)).toContain("workflow_runs_failed");
});

test("a view of the application that reads such a column is named, and the next attempt works without it", async () => {
  const db = new Database();
  await db.create("template1");
  onTestFinished(() => db.drop());
  const before = readdirSync(join(root, "migrations")).sort().indexOf(domains);
  await migrate({ adminUrl: db.url("admin"), platform: root, platformMigrations: before });
  await db.sql("create view public.open_runs as select id from svc.workflow_runs where status = 'running'");
  const error = await migrate({ adminUrl: db.url("admin"), platform: root }).catch(String);
  expect(error).toContain("view open_runs depends on column");
  expect(error).toContain("Drop what uses it before, and create it again after.");

  await db.sql("drop view public.open_runs");

  await expect(migrate({ adminUrl: db.url("admin"), platform: root })).resolves.toContain(
    `platform/migrations/${domains}`,
  );
});

test("values of these columns reach clients as text and numbers", async () => {
  const db = new Database();
  await db.create("platform");
  onTestFinished(() => db.drop());
  const client = await db.connect("admin");
  await client.query(`${addRun} values ('flow', 2, '{}', 'running')`);
  const { rows, fields } = await client.query(
    "select status, version, row_to_json(r) ->> 'version' as json from svc.workflow_runs r",
  );
  expect(rows).toEqual([{ status: "running", version: 2, json: "2" }]);
  expect(fields.slice(0, 2).map(({ dataTypeID }) => dataTypeID)).toEqual([25, 23]);
});
