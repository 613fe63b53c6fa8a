// If this file fails, jobs and runs that a release has left behind fail an hour later without a word in `svc doctor`.
import { createSvc, defineApi, workflow } from "@svc/core";
import { expect, test } from "vitest";
import { examineWork } from "../../src/cli/doctor-work.ts";
import { database } from "../support/database.ts";

const db = database();

const { procedure } = createSvc({ schema: {} });
const handler = () => null;
const api = defineApi({
  procedures: { known: procedure.internal.name("work.known").handler(handler) },
  workflows: { known: workflow("work.known", { version: 2, handler }) },
});

const enqueue = (name: string) => db.sql("select svc_private.enqueue_system_job($1, null, null, null, null)", [name]);
const start = (name: string, version: number) =>
  db.sql("select svc_private.add_run(null, true, $1, $2, '{}', null, null, null)", [name, version]);

test("names what jobs and runs need and the code does not have", async () => {
  const system = (await db.connect("system")) as never;
  await enqueue("work.known");
  await start("work.known", 2);
  expect(await examineWork(system, api)).toEqual([]);

  await enqueue("work.gone");
  await start("work.known", 1);
  await start("work.known", 1);
  await start("work.gone", 1);
  const [{ kind, text } = { kind: "", text: "" }] = await examineWork(system, api);
  expect(kind).toBe("advice");
  expect(text.split("\n").slice(1, -2)).toEqual([
    '  internal procedure "work.gone": 1 job',
    '  workflow "work.gone", version 1: 1 run',
    '  workflow "work.known", version 1: 2 runs',
  ]);

  await db.sql("update svc.workflow_runs set status = 'failed'");
  await db.sql("update graphile_worker._private_jobs set attempts = max_attempts");
  expect(await examineWork(system, api)).toEqual([]);
});
