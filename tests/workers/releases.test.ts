// If this file fails, jobs of a new release are dead after some tries by workers of the previous one, although workers that
// know them run.
import { beforeEach, expect, test } from "vitest";
import { defineApi } from "../../src/app/api.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { jobs, until, workers } from "../support/worker.ts";

let ran = 0;
const added = procedure.internal.name("release.added").handler(() => void ran++);
const old = defineApi({ procedures: {} });
const db = database();
const start = workers(db, old);

const add = async (age: string) => {
  await db.sql(
    `begin;
     select svc_private.add_procedure_job('{"kind": "system"}', 'release.added', null, null, null);
     update graphile_worker._private_jobs set created_at = now() - interval '${age}';
     commit`,
  );
};
const outages = async () =>
  (
    await db.sql(
      "select flags ->> 'outages' as n from graphile_worker._private_jobs where payload ->> 'procedure' = 'release.added'",
    )
  )[0]?.n;

beforeEach(async () => {
  ran = 0;
  await db.sql("delete from graphile_worker._private_jobs");
});

test("a worker leaves a job of a procedure that it does not know to a newer one; no attempt counts", async () => {
  const first = await start();
  await add("1 minute");
  await until(async () => Number(await outages()) >= 1);
  expect(await jobs(db)).toMatchObject([
    { attempts: 0, last_error: expect.stringContaining('no internal procedure "release.added"') },
  ]);
  const second = await start({ app: { api: defineApi({ procedures: { added } }), auth: defineAuth({}), schema } });
  await until(() => ran === 1);
  await until(async () => (await jobs(db)).length === 0);
  await Promise.all([first.stop(), second.stop()]);
});

test("an old job is left to others as long as a living worker knows it, and fails after that", async () => {
  const holder = await db.connect("system");
  await holder.query("select svc_private.hold_definitions('{procedure release.added}')");
  const worker = await start();
  await add("2 hours");
  await until(async () => Number(await outages()) >= 1);
  expect(await jobs(db)).toMatchObject([{ attempts: 0 }]);
  await holder.query("select pg_advisory_unlock_all()");
  await until(async () => (await jobs(db))[0]?.attempts === 1);
  await until(async () => (await jobs(db))[0]?.locked_by === null);
  expect(await jobs(db)).toMatchObject([
    { last_error: expect.stringContaining('no internal procedure "release.added"') },
  ]);
  await worker.stop();
});
