// If this file fails, a release makes runs fail that another worker could finish, or workers have no time for other jobs.
import { beforeAll, expect, test } from "vitest";
import { cron, workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

const versioned = workflow("releases.versioned", { version: 2, handler: () => 2 });
const start = procedure.mutation
  .name("releases.start")
  .handler(({ context }) => context.workflows.start("releases.versioned", {}));

const db = database();
const often = cron
  .name("releases.often")
  .interval({ hours: 1 })
  .handler(procedure.internal.name("releases.nothing").handler(() => {}));
const api = apiWith({ procedures: { start }, crons: { often }, workflows: { versioned } });
const startWorker = workers(db, api);
const app = service(db, api);
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  await startWorker();
});

const begin = async () => (await app.mutate(ann, "releases.start", {})).body.json.id as string;
const get = async (id: string) => (await app.query(ann, "workflows.get", { id })).body.json;
const ended = async (id: string) => {
  await until(async () => ["completed", "failed"].includes((await get(id)).status));
  return get(id);
};
/** In milliseconds: how long the run that was left to others stays away. */
const pause = async (id: string) => {
  const { wakeAt, updatedAt } = await get(id);
  return new Date(wakeAt).getTime() - new Date(updatedAt).getTime();
};

test("a run of a version that is gone fails with UNKNOWN_VERSION", async () => {
  const id = await begin();
  await ended(id);
  await db.sql("update svc.workflow_runs set version = 1, status = 'failed' where id = $1", [id]);
  await app.mutate(ann, "workflows.retry", { id });
  expect((await ended(id)).error).toEqual({
    code: "UNKNOWN_VERSION",
    message: 'The workflow "releases.versioned" is not registered in version 1, with which this run was started.',
    hint: expect.stringContaining("Registered: 2. Register version 1"),
  });
});

test("a run of a version that is yet to come is left to newer workers for an hour", async () => {
  const id = await begin();
  const { version } = await ended(id);
  const again = async (change: string) => {
    await db.sql(`update svc.workflow_runs set version = 99, status = 'failed', ${change} where id = $1`, [id]);
    await app.mutate(ann, "workflows.retry", { id });
  };
  await again("claims = 0");
  await until(async () => (await get(id)).waitMarker === "version");
  // As a worker that knows it would find it when its time has come.
  await db.sql("update svc.workflow_runs set version = $2 where id = $1", [id, version]);
  await db.sql("update graphile_worker._private_jobs set run_at = now() where key = 'workflow:' || $1", [id]);
  expect((await ended(id)).status).toBe("completed");

  // Thousands of such runs, which a release that was taken back has started, must not keep the workers from other jobs.
  await again("created_at = now() - interval '20 minutes'");
  await until(async () => (await get(id)).waitMarker === "version");
  expect(await pause(id)).toBeGreaterThan(30_000);
  await app.mutate(ann, "workflows.cancel", { id });

  await again("created_at = now() - interval '2 hours'");
  expect((await ended(id)).error.code).toBe("UNKNOWN_VERSION");
});

test.for([
  ["older", 1],
  ["newer", 99],
] as const)("a run that only a worker of an %s release knows is left to it, however old it is", async ([, version]) => {
  const id = await begin();
  await ended(id);
  const other = await db.connect("system");
  await other.query("select svc_private.hold_definitions($1)", [[`workflow releases.versioned ${version}`]]);
  const change = "version = $2, status = 'failed', created_at = now() - interval '2 hours'";
  await db.sql(`update svc.workflow_runs set ${change} where id = $1`, [id, version]);
  await app.mutate(ann, "workflows.retry", { id });
  await until(async () => (await get(id)).waitMarker === "version");
  expect(await pause(id)).toBeLessThan(10_000);
  const [next] = await db.sql("select flags from graphile_worker._private_jobs where key = 'workflow:' || $1", [id]);
  expect(next?.flags).toEqual({ left_by: [expect.any(String)] });
  await other.query("select pg_advisory_unlock_all()"); // as if that worker had ended
  await db.sql("update graphile_worker._private_jobs set run_at = now() where key = 'workflow:' || $1", [id]);
  expect((await ended(id)).error.code).toBe("UNKNOWN_VERSION");
});

test("a worker marks its own workflows and crons as those of a living worker", async () => {
  const held = async (definition: string) =>
    (await db.sql("select svc_private.is_held_by_worker($1) as held", [definition]))[0]?.held;
  expect(await held("workflow releases.versioned 2")).toBe(true);
  expect(await held("workflow releases.versioned 3")).toBe(false);
  expect(await held("cron releases.often every 3600000 ms")).toBe(true);
});
