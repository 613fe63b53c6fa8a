// If this file fails, an error whose text PostgreSQL cannot store, such as one that quotes the answer of another
// service, stops every job of its worker, or a workflow repeats a step for ever.
import pino from "pino";
import { beforeAll, describe, expect, test } from "vitest";
import { SvcError, workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

/** NUL, and half of a surrogate pair. */
const garbage = "<html>\u0000 \ud83d.";
const stored = "<html>\ufffd \ufffd.";

let attempts = 0;
const failing = workflow("text.failing", {
  retries: { limit: 2, delay: 1 },
  handler: (wf) =>
    wf.step("call", () => {
      attempts++;
      throw new Error(garbage);
    }),
});
const refused = workflow("text.refused", {
  handler: (wf) =>
    wf.step("call", () => {
      throw new SvcError("BAD_REQUEST", garbage, { hint: garbage });
    }),
});
const thrown = workflow("text.thrown", {
  handler: async () => {
    throw new Error(garbage);
  },
});
const noText = workflow("text.noText", {
  retries: 0,
  handler: (wf) =>
    wf.step("call", () => {
      throw Object.create(null);
    }),
});
const noHint = workflow("text.noHint", {
  handler: (wf) =>
    wf.step("call", () => {
      throw new SvcError("BAD_REQUEST", "No.", { hint: 5n as never });
    }),
});
const result = workflow("text.result", { handler: async () => garbage });
const stepResult = workflow("text.stepResult", { handler: (wf) => wf.step("call", () => ({ text: garbage })) });
let name = "";
const stepName = workflow("text.stepName", { handler: (wf) => wf.step(name, () => 1) });
const eventName = workflow("text.eventName", { handler: (wf) => wf.waitForEvent(name, "1 day") });

const broken = procedure.internal.name("text.broken").handler(() => {
  throw new Error(garbage);
});
const schedule = procedure.mutation
  .name("text.schedule")
  .handler(async ({ context }) => ({ id: await context.scheduler.runAfter(0, "text.broken") }));
const startKeyed = procedure.mutation
  .name("text.startKeyed")
  .handler(({ context, input }) => context.workflows.start("text.result", {}, input as object));
const start = procedure.mutation
  .name("text.start")
  .handler(({ context, input }) => context.workflows.start((input as { name: string }).name, {}));

const db = database();
const workflows = { failing, refused, thrown, noText, noHint, result, stepResult, stepName, eventName };
const api = apiWith({ procedures: { broken, schedule, start, startKeyed }, workflows });
const startWorker = workers(db, api);
const app = service(db, api);
const lines: string[] = [];
const log = pino({ level: "warn" }, { write: (line) => void lines.push(line) });
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  await startWorker({ log });
});

async function finished(name: string) {
  const { id } = (await app.mutate(ann, "text.start", { name })).body.json;
  const read = async () => (await app.query(ann, "workflows.get", { id })).body.json;
  await until(async () => (await read()).status === "failed");
  const [row] = await db.sql("select error_detail as detail from svc.workflow_runs where id = $1", [id]);
  return { error: (await read()).error, detail: row?.detail as string };
}

test("a step whose error cannot be stored has its retries and no more, and its detail is kept", async () => {
  const { error, detail } = await finished("text.failing");
  expect(error).toMatchObject({ code: "INTERNAL", step: "call" });
  expect(detail).toContain(stored);
  expect(attempts).toBe(3);
});

test("the message and hint for the user are kept", async () => {
  const { error } = await finished("text.refused");
  expect(error).toMatchObject({ code: "BAD_REQUEST", message: stored, hint: stored });
});

test("an error outside steps ends the run", async () => {
  const { detail } = await finished("text.thrown");
  expect(detail).toContain(stored);
});

test("what is thrown and is no text ends the run, and the step is not repeated for ever", async () => {
  expect(await finished("text.noText")).toMatchObject({
    error: { code: "INTERNAL" },
    detail: expect.stringContaining("caused by: What was thrown cannot be read."),
  });
  expect((await finished("text.noHint")).error).toMatchObject({ code: "BAD_REQUEST", hint: "5" });
});

test.each(["text.result", "text.stepResult"])("a result that cannot be stored fails the run: %s", async (name) => {
  const { error } = await finished(name);
  expect(error).toMatchObject({ code: "INTERNAL", hint: expect.stringContaining("NUL") });
});

describe.each(["\u0000", "\ud83d"])("a name that cannot be stored, %j,", (odd) => {
  test.each(["text.stepName", "text.eventName"])("fails the run: %s", async (workflow) => {
    name = `a${odd}`;
    const hint =
      "A step or event needs a name of 1 to 200 characters, without NUL and without halves of surrogate pairs.";
    expect((await finished(workflow)).error).toMatchObject({ code: "INTERNAL", hint });
  });

  test("is refused for an event that is sent, and as an idempotency key", async () => {
    const { id } = (await app.mutate(ann, "text.start", { name: "text.result" })).body.json;
    const sent = await app.mutate(ann, "workflows.signal", { id, event: `a${odd}` });
    expect(sent).toMatchObject({ status: 400, body: { error: expect.stringContaining("An event needs a name") } });
    const started = await app.mutate(ann, "text.startKeyed", { idempotencyKey: `a${odd}` });
    expect(started).toMatchObject({ status: 400, body: { error: expect.stringContaining("idempotencyKey needs") } });
  });
});

test("a job keeps its error, and its worker keeps its other jobs", async () => {
  const { id } = (await app.mutate(ann, "text.schedule", {})).body.json;
  const read = () =>
    db.sql("select last_error as error, locked_by from graphile_worker._private_jobs where id = $1", [id]);
  await until(async () => (await read())[0]?.error !== null);
  expect((await read())[0]).toEqual({ error: stored, locked_by: null });
  expect(lines.join("")).not.toContain("the worker lost the database");
});
