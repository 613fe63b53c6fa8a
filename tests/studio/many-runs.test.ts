// If this file fails, Studio leaves out runs of workflows, or the step at which one failed, or reads a whole queue for a few jobs.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { studio } from "./test-studio.ts";

const db = database();
const opened = studio(db);
const run = "00000000-0000-4000-8000-000000000001";

test("pages through runs that one transaction has started, which have the same time", async () => {
  await db.sql("insert into svc.workflow_runs (name, version, args) select 'a', 1, '{}' from generate_series(1, 120)");
  const seen = new Set<string>();
  for (let before: string | null = null, pages = 0; pages < 3; pages++) {
    const { runs, next } = await opened.ask("runs", { status: null, name: "a", before });
    for (const { id } of runs) seen.add(id);
    before = next;
  }
  expect(seen.size).toBe(120);
});

test("shows the last steps of a run that has many: the one that failed is among them", async () => {
  await db.sql(`insert into svc.workflow_runs (id, name, version, args) values ('${run}', 'b', 1, '{}')`);
  await db.sql(`insert into svc.workflow_steps (run_id, position, kind, name, is_done)
    select '${run}', i::text, 'step', 'step ' || i, true from generate_series(1, 600) i`);
  const { steps } = await opened.ask("run", { id: run });
  expect([steps.length, steps[0].name, steps.at(-1).name]).toEqual([500, "step 101", "step 600"]);
});
