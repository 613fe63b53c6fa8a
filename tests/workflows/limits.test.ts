// If this file fails, more runs of a workflow run at a time than allowed, a run kills its workers for ever, or a retry
// repeats too much.
import { beforeAll, expect, test } from "vitest";
import { workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

let running = 0;
let most = 0;
let gates: PromiseWithResolvers<void>[] = [];
const done: string[] = [];
let isBroken = true;

const single = workflow("limits.single", {
  concurrency: 2,
  handler: (wf) =>
    wf.step("hold", async () => {
      most = Math.max(most, ++running);
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      running--;
    }),
});
const three = workflow("limits.three", {
  retries: 0,
  handler: async (wf) => {
    for (const name of ["first", "second", "third"]) {
      await wf.step(name, () => {
        done.push(name);
        if (name === "third" && isBroken) throw new Error("broken");
      });
    }
  },
});
const everybody = workflow("limits.everybody", {
  handler: (wf) => wf.step("count", async () => (await wf.db.select().from(notes)).length),
});
const patient = workflow("limits.patient", { handler: (wf) => wf.waitForEvent("go") });
const sleeping = workflow("limits.sleeping", { handler: (wf) => wf.sleep("1 hour") });
const startAsSystem = procedure.internal
  .name("limits.asSystem")
  .runAs("system")
  .handler(async ({ context }) => void (await context.workflows.start(everybody, {})));
const start = procedure.mutation
  .name("limits.start")
  .handler(({ context, input }) => context.workflows.start((input as { name: string }).name, {}));
const system = procedure.mutation
  .name("limits.system")
  .handler(({ context }) => context.scheduler.runAfter(0, "limits.asSystem", {}));

const db = database();
const api = apiWith({
  procedures: { start, startAsSystem, system },
  workflows: { single, three, everybody, patient, sleeping },
});
const startWorker = workers(db, api);
// A small row, so that a large run is quickly made.
const app = service(db, api, { limits: { rowBytes: 4 * 1024 * 1024 } } as object);
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  await startWorker({ concurrency: 6 });
});

const begin = async (name: string) => (await app.mutate(ann, "limits.start", { name })).body.json.id as string;
const get = async (id: string) => (await app.query(ann, "workflows.get", { id })).body.json;
const status = async (id: string, wanted: string) => until(async () => (await get(id)).status === wanted);

test("of a workflow with concurrency 2, two run at a time, the others in their order as places get free", async () => {
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) ids.push(await begin("limits.single"));
  const waiting =
    "select count(*)::integer from svc.workflow_runs where name = 'limits.single' and wait_marker = 'slot'";
  for (let left = 5; left > 0; left--) {
    await until(() => gates.length === Math.min(2, left));
    await until(async () => (await db.sql(waiting))[0]?.count === Math.max(0, left - 2));
    gates.shift()?.resolve();
    await until(() => running === Math.min(2, left - 1));
  }
  for (const id of ids) await status(id, "completed");
  expect(most).toBe(2);
});

test("a run that is cancelled gives its place to the next", async () => {
  gates = [];
  const ids = [await begin("limits.single"), await begin("limits.single"), await begin("limits.single")];
  await until(() => gates.length === 2);
  const held = "select id from svc.workflow_runs where name = 'limits.single' and status = 'running'"; // any two of them
  const cancelled = (await db.sql(held))[0]?.id as string;
  await app.mutate(ann, "workflows.cancel", { id: cancelled });
  await until(() => gates.length === 3);
  for (const gate of gates) gate.resolve();
  for (const id of ids) await status(id, id === cancelled ? "cancelled" : "completed");
});

test("a run whose job an operator removes is cancelled, and does not sleep for ever", async () => {
  const id = await begin("limits.sleeping");
  await until(async () => (await get(id)).derivedStatus === "sleeping");
  const remove = `select svc_private.act_cancel_job(id) as removed from graphile_worker._private_jobs where key = $1`;
  expect(await db.sql(remove, [`workflow:${id}`])).toEqual([{ removed: true }]);
  expect((await get(id)).status).toBe("cancelled");
  expect(await db.sql(remove, [`workflow:${id}`])).toEqual([]);
  await app.mutate(ann, "workflows.retry", { id });
  await until(async () => (await get(id)).derivedStatus === "sleeping");
});

test("ten claims without a checkpoint between them fail the run", async () => {
  const add = "select svc_private.add_run($1, false, 'limits.deadly', 1, '{\"json\": {}}', null, null, null) as id";
  await db.sql("begin"); // so that no worker meets it
  const [row] = await db.sql(add, [ann.id]);
  for (let claim = 1; claim <= 10; claim++) {
    expect((await db.sql("select svc_private.claim_run($1) as it", [row?.id]))[0]?.it).toMatchObject({ fence: claim });
  }
  expect((await db.sql("select svc_private.claim_run($1) as it", [row?.id]))[0]?.it).toBeNull();
  await db.sql("commit");
  const run = await get(row?.id);
  expect([run.status, run.error]).toEqual([
    "failed",
    { code: "INTERNAL", message: "The workflow ended its worker again and again." },
  ]);
});

test("a checkpoint begins the count of claims anew", async () => {
  const add = "select svc_private.add_run($1, false, 'limits.deadly', 1, '{\"json\": {}}', null, null, null) as id";
  await db.sql("begin");
  const [row] = await db.sql(add, [ann.id]);
  const claim = () => db.sql("select svc_private.claim_run($1) as it", [row?.id]);
  for (let index = 0; index < 9; index++) await claim();
  await db.sql("select svc.record_step($1, 9, '0', 'alive', '{}', null, now())", [row?.id]);
  // The claim that made the checkpoint is the first of ten: it has begun the next step.
  for (let index = 0; index < 9; index++) expect((await claim())[0]?.it).not.toBeNull();
  expect((await claim())[0]?.it).toBeNull();
  await db.sql("rollback");
});

test("a failed run can be retried from its last checkpoint, or from a step: it and all after it is done anew", async () => {
  const id = await begin("limits.three");
  await status(id, "failed");
  expect(done.splice(0)).toEqual(["first", "second", "third"]);
  expect((await app.mutate(ann, "workflows.retry", { id, fromStep: "fourth" })).body.code).toBe("BAD_REQUEST");

  await app.mutate(ann, "workflows.retry", { id });
  await until(() => done.length === 1);
  await status(id, "failed");
  expect(done.splice(0)).toEqual(["third"]);

  isBroken = false;
  await app.mutate(ann, "workflows.retry", { id, fromStep: "second" });
  await status(id, "completed");
  expect(done.splice(0)).toEqual(["second", "third"]);
  expect((await app.mutate(ann, "workflows.retry", { id })).status).toBe(409);
});

test("a run that the system started acts as the system, and is nobody's to see", async () => {
  const bob = await app.signUp("bob");
  await db.sql("insert into public.notes (title, user_id) values ('of ann', $1), ('of bob', $2)", [ann.id, bob.id]);
  await app.mutate(ann, "limits.system");
  const find = "select * from svc.workflow_runs where name = 'limits.everybody' and status = 'completed'";
  await until(async () => (await db.sql(find)).length === 1);
  const [run] = await db.sql(find);
  expect([run?.is_system, run?.user_id, run?.result]).toEqual([true, null, { json: 2 }]);
  expect((await app.query(ann, "workflows.get", { id: run?.id })).status).toBe(404);
  expect((await app.query(ann, "workflows.list", { name: "limits.everybody" })).body.json.items).toEqual([]);
});

/** Events of a million characters that were sent to a run. */
const addEvents = (id: string, events: number) =>
  db.sql(
    `insert into svc.workflow_events (run_id, name, payload, user_id)
     select $1, 'other', json_build_object('json', repeat('x', 1000000)), $2 from generate_series(1, $3)`,
    [id, ann.id, events],
  );

test("a run takes no more events than every look at it can read", async () => {
  const id = await begin("limits.patient");
  await addEvents(id, 15);
  const send = () => app.mutate(ann, "workflows.signal", { id, event: "other", payload: "x".repeat(1_000_000) });
  expect((await send()).status).toBe(200);
  expect((await send()).body).toMatchObject({ code: "CONFLICT", error: "This run holds as many events as it may." });
  // Small ones count too.
  await db.sql(
    `insert into svc.workflow_events (run_id, name, payload) select $1, 'small', 'null' from generate_series(1, 800)`,
    [id],
  );
  expect((await app.mutate(ann, "workflows.signal", { id, event: "go" })).status).toBe(409);
});

test("a run that is too large to read can be cancelled", async () => {
  const id = await begin("limits.patient");
  await addEvents(id, 5);
  expect((await app.query(ann, "workflows.get", { id })).status).toBe(400);
  expect((await app.mutate(ann, "workflows.retry", { id })).body.error).toBe(
    "Only a run that failed or was cancelled can be retried.",
  );
  expect((await app.mutate(ann, "workflows.cancel", { id })).status).toBe(200);
  expect(await db.sql("select status from svc.workflow_runs where id = $1", [id])).toEqual([{ status: "cancelled" }]);
});
