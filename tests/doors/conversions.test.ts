// If this file fails, a workflow converts a file that the policies hide from its user, or refuses one that they show.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { until, workers } from "../support/worker.ts";
import { api } from "./application.ts";
import { type Caller, isSignedIn } from "./door.ts";
import { plant, situationsOf } from "./situations.ts";
import { names, world } from "./world.ts";

const made = world();
const { db, running, sql } = made;
const startWorker = workers(db, api);
beforeAll(async () => {
  const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  await startWorker({ config: { ...config, storage: made.storage } });
});

/** Only a few files, because the first conversion of each takes a while. */
const listed = "select id::text from svc.storage_objects where name like 'team-1 private %'";

/** @returns the files that a run of the caller has converted */
async function convertAll({ user }: Caller): Promise<string[]> {
  const ids = (await sql.all<{ id: string }>(listed, [])).map(({ id }) => id);
  const { body } = await running.mutate(user, "doors.convert", { ids });
  const find = async () =>
    (
      await sql.all<{ status: string; result: { json: string[] } | null; error: unknown }>(
        "select status, result, error from svc.workflow_runs where id = $1",
        [body.json.id],
      )
    )[0];
  await until(async () => !["pending", "running"].includes((await find())?.status ?? ""));
  const run = await find();
  if (!run?.result) throw new Error(JSON.stringify(run?.error ?? run));
  return run.result.json;
}

describe.for(situationsOf("svc.storage_objects"))("where $name", (situation) => {
  beforeAll(() => plant(db, situation));
  test.for(names)("wf.services.document.convert of the %s gives what select gives", async (name) => {
    const caller = made.callers.find((one) => one.name === name);
    if (!caller || !isSignedIn(caller)) throw new Error(`Nobody is called ${name}.`);
    const shown = await sql.query<{ id: string }>(caller, listed);
    expect((await convertAll(caller)).sort()).toEqual(shown.map(({ id }) => id).sort());
  });
});
