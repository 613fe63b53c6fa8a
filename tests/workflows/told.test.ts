// If this file fails, a run fails, or a call of wf does nothing, and the log says nothing of it.
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { workflow } from "../../src/index.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

let open = Promise.withResolvers<void>();
const large = workflow("told.large", { handler: () => "x".repeat(1_100_000) });
const throwing = workflow("told.throwing", {
  retries: 0,
  handler: (wf) =>
    wf.step("mail", () => {
      throw new Error("the receiver is away");
    }),
});
const casting = workflow("told.casting", {
  retries: 0,
  handler: (wf) => wf.step("cast", () => wf.db.execute(sql`select ${"of a patient"}::text::integer` as never)),
});
const forbidden = workflow("told.forbidden", {
  handler: (wf) => wf.step("write", () => wf.db.insert(notes).values({ userId: "another", title: "x" })),
});
const late = workflow("told.late", {
  handler: (wf) => void open.promise.then(() => wf.step("late", () => 1)).catch(() => {}),
});
const slow = workflow("told.slow", { maxDuration: "100 ms", handler: (wf) => wf.step("slow", () => sleep(3_000)) });
const patient = workflow("told.patient", { version: 2, maxDuration: "1 hour", handler: (wf) => wf.waitForEvent("go") });
const failing = procedure.internal.name("told.fail").handler(() => {
  throw new Error("the printer is away");
});
const schedule = procedure.mutation.name("told.schedule").handler(async ({ context }) => {
  await context.scheduler.runAfter(0, failing);
});
const start = procedure.mutation
  .name("told.start")
  .handler(({ context, input }) => context.workflows.start((input as { name: string }).name, {}));

const db = database();
const api = apiWith({
  procedures: { start, schedule, failing },
  workflows: { large, throwing, casting, forbidden, late, slow, patient },
});
const startWorker = workers(db, api);
const app = service(db, api);
const lines: Record<string, unknown>[] = [];
/** What `svc dev` prints with the line of the code. */
const shown: [operation: string, cause: unknown][] = [];
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  await startWorker({
    log: createLog("info", { write: (line) => void lines.push(JSON.parse(line)) }),
    showCause: (cause, operation) => {
      shown.push([operation, cause]);
      return "";
    },
  });
});
beforeEach(() => {
  lines.length = 0;
  shown.length = 0;
  open = Promise.withResolvers<void>();
});

const begin = async (name: string) => (await app.mutate(ann, "told.start", { name })).body.json.id as string;
const error = async () => {
  const find = () => lines.find(({ level }) => level === 50);
  await until(() => find() !== undefined);
  return find();
};
const message = "run failed; svc workflows show tells more, svc workflows retry continues it";

test("a run whose step a policy refused says where to look, as a call does", async () => {
  const id = await begin("told.forbidden");
  await error();
  const get = async () => (await app.query(ann, "workflows.get", { id })).body.json;
  await until(async () => (await get()).status === "failed");
  const hint = expect.stringContaining("The policies of notes do not let this caller write this row");
  expect((await get()).error).toMatchObject({ code: "FORBIDDEN", step: "write", hint });
});

test("a run whose step failed is told with what the step threw", async () => {
  const run = await begin("told.throwing");
  const err = { message: "the receiver is away" };
  expect(await error()).toMatchObject({ run, workflow: "told.throwing", step: "mail", err, msg: message });
});

test("a run that has failed is told once, also if its job runs again, and never with the values of a statement", async () => {
  const run = await begin("told.casting");
  await error();
  await db.sql("select svc_private.wake_run($1, now())", [run]);
  const jobs = "select from graphile_worker._private_jobs where key = $1";
  await until(async () => (await db.sql(jobs, [`workflow:${run}`])).length === 0);
  expect(lines.filter(({ level }) => level === 50)).toHaveLength(1);
  expect(JSON.stringify(lines)).not.toContain("of a patient");
});

test("a run whose result cannot be stored", async () => {
  const run = await begin("told.large");
  const err = { message: expect.stringContaining("result is larger than 1 MiB") };
  expect(await error()).toMatchObject({ run, err, msg: message });
});

test("a run whose time is up while a step runs", async () => {
  const run = await begin("told.slow");
  expect(await error()).toMatchObject({ run, reason: expect.stringContaining("maxDuration"), msg: message });
});

test.for([
  ["deadline = now()", "maxDuration was"],
  ["claims = 10", "claimed 10 times without reaching a checkpoint"],
])("a run that the database ends: %s", async ([change, reason]) => {
  const run = await begin("told.patient");
  await until(
    async () =>
      (await db.sql("select from svc.workflow_runs where id = $1 and wait_marker = 'wait:go'", [run])).length > 0,
  );
  await db.sql(`update svc.workflow_runs set ${change} where id = $1`, [run]);
  await app.mutate(ann, "workflows.signal", { id: run, event: "go" });
  expect(await error()).toMatchObject({ run, workflow: "told.patient", reason: expect.stringContaining(reason ?? "") });
});

test("a run of a version that no worker has", async () => {
  const run = await begin("told.patient");
  await until(
    async () =>
      (await db.sql("select from svc.workflow_runs where id = $1 and wait_marker = 'wait:go'", [run])).length > 0,
  );
  await db.sql("update svc.workflow_runs set version = 1 where id = $1", [run]);
  await app.mutate(ann, "workflows.signal", { id: run, event: "go" });
  const hint = expect.stringContaining("Register version 1");
  expect(await error()).toMatchObject({ run, reason: expect.stringContaining("version 1"), hint, msg: message });
});

test("a step that is called after the handler has ended", async () => {
  const run = await begin("told.late");
  await until(
    async () =>
      (await db.sql("select from svc.workflow_runs where id = $1 and status = 'completed'", [run])).length > 0,
  );
  open.resolve();
  const err = { message: expect.stringContaining("wf.step was called after the handler had ended") };
  expect(await error()).toMatchObject({ run, name: "late", err, msg: "a call of wf came too late" });
});

test("a start without a workflow", async () => {
  const { body } = await app.mutate(ann, "told.start", {});
  expect(body.hint).toBe("ctx.workflows: start takes a workflow or the name of one as its first argument.");
});

test("while developing, the author is shown why a job and a step failed", async () => {
  await begin("told.throwing");
  await until(() => shown.length === 1);
  await app.mutate(ann, "told.schedule");
  await until(() => shown.length === 2);
  expect(shown).toEqual([
    ['the step "mail" of told.throwing', expect.objectContaining({ message: "the receiver is away" })],
    ["told.fail", expect.objectContaining({ message: "the printer is away" })],
  ]);
  await db.sql("delete from graphile_worker._private_jobs");
});
