// If this file fails, a run that the application's policies hide is steered all the same, or one that they show to others is
// steered by them.
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
const on = "on svc.workflow_runs";
const situations: [string, string, string][] = [
  ["no policy of the application", "select", "ann"],
  ["a permissive policy", `create policy app_door ${on} for select to svc_authenticated using (true)`, "ann"],
  ["a restrictive policy", `create policy app_door ${on} as restrictive for select to public using (name <> 'w')`, ""],
];
const steers = ["svc.signal_workflow(id, 'go', 'null')", "svc.cancel_workflow(id)", "svc.retry_workflow(id, null)"];

beforeAll(() =>
  db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'a@x.test'), ('bob', 'Bob', 'b@x.test')`),
);

test.each(situations)("under %s a run is steered by its owner who sees it alone", async (_, policy, steering) => {
  await db.sql(policy);
  const [run] = await db.sql<{ id: string }>(
    "insert into svc.workflow_runs (name, version, args, user_id) values ('w', 1, '{}', 'ann') returning id",
  );
  const login = await db.connect("request");
  for (const caller of ["", "bob", "ann"]) {
    for (const steer of steers) {
      await login.query("select set_config('svc.user_id', $1, false)", [caller]);
      const { rows } = await login.query(`select ${steer.replace("id", "$1")} as it`, [run?.id]);
      const accepted = caller !== "" && caller === steering;
      expect([caller, steer, rows[0].it]).toEqual([caller, steer, accepted ? "accepted" : "unknown"]);
    }
  }
  await db.sql(`drop policy if exists app_door ${on}`);
});
