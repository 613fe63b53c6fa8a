// If this file fails, a retry of a run does finished work twice, or does not try all that failed.
import { beforeAll, expect, test } from "vitest";
import { SvcError, v, workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

const calls: string[] = [];

/** Changed by a test, as a deployment would. */
let stepAfter = "after";
const lenient = workflow("test.lenient", {
  handler: async (wf) => {
    const refuse = () => {
      calls.push("refused");
      throw new SvcError("FORBIDDEN");
    };
    await wf.step("refused", refuse).catch(() => {});
    await wf.step(stepAfter, () => calls.push("after"));
    return wf.waitForEvent("approval");
  },
});
const impatient = workflow("test.impatient", {
  retries: 0,
  handler: async (wf) => {
    const isDone = await wf
      .step("attempt", () => {
        calls.push("attempt");
        if (calls.length < 2) throw new SvcError("FORBIDDEN");
        return true;
      })
      .catch(() => false);
    if (!isDone) throw new SvcError("TIMEOUT");
  },
});
const brief = () => new Promise<void>((resolve) => setTimeout(resolve, 50));
/** Its third step begins after the failure of the first, and ends before its second attempt. */
const uneven = workflow("test.uneven", {
  retries: { limit: 3, delay: 10 },
  handler: (wf) =>
    wf.parallel([
      () =>
        wf.step("first", () => {
          calls.push("first");
          if (calls.length < 2) throw new Error("once more");
          return brief();
        }),
      async () => {
        await wf.step("second", brief);
        await wf.step("third", () => {});
      },
    ]),
});
const flaky = workflow("test.flaky", {
  retries: { limit: 3, delay: 10 },
  handler: async (wf) => {
    await wf.step("before", () => calls.push("before"));
    await wf.step("flaky", () => {
      if (calls.push("flaky") < 4) throw new Error("not yet");
    });
    await wf.step("last", () => calls.push("last"));
  },
});
const incomplete = workflow("test.incomplete", {
  handler: (wf) =>
    wf.step("convert", () => {
      calls.push("convert");
      throw new SvcError("NOT_INSTALLED");
    }),
});
let branchesFail = true;
const branches = workflow("test.branches", {
  retries: 0,
  handler: async (wf) => {
    const fails = (name: string) => () =>
      wf.step(name, () => {
        calls.push(name);
        if (branchesFail) throw new Error(name);
      });
    const done = async () => {
      await wf.sleep(20);
      await wf.step("done", () => calls.push("done"));
    };
    await wf.parallel([fails("one"), fails("two"), done]);
  },
});

const start = procedure.mutation
  .name("runs.start")
  .input(v.object({ name: v.string() }))
  .handler(({ context, input }) => context.workflows.start(input.name));

const db = database();
const api = apiWith({ procedures: { start }, workflows: { lenient, impatient, flaky, uneven, incomplete, branches } });
const startWorker = workers(db, api);
const app = service(db, api);
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  await startWorker();
});

const begin = async (name: string) => (await app.mutate(ann, "runs.start", { name })).body.json?.id as string;
const get = async (id: string) => (await app.query(ann, "workflows.get", { id })).body.json;
const ended = async (id: string) => {
  await until(async () => ["completed", "failed"].includes((await get(id)).status));
  return get(id);
};
const derived = (id: string, status: string) => until(async () => (await get(id)).derivedStatus === status);

test("repeats no step at a retry after a cancellation or a changed handler, although an error was caught", async () => {
  calls.length = 0;
  const id = await begin("test.lenient");
  await derived(id, "waiting");
  await app.mutate(ann, "workflows.cancel", { id });
  await app.mutate(ann, "workflows.retry", { id });
  await derived(id, "waiting");
  expect(calls).toEqual(["refused", "after"]);
  stepAfter = "renamed";
  await app.mutate(ann, "workflows.signal", { id, event: "approval" });
  expect((await ended(id)).error.code).toBe("NON_DETERMINISTIC");
  stepAfter = "after";
  await app.mutate(ann, "workflows.retry", { id });
  expect((await ended(id)).result).toBe(true);
  expect(calls).toEqual(["refused", "after"]);
});

test("repeats the step whose error was caught, if the handler itself threw TIMEOUT", async () => {
  calls.length = 0;
  const id = await begin("test.impatient");
  expect((await ended(id)).error.code).toBe("TIMEOUT");
  await app.mutate(ann, "workflows.retry", { id });
  expect((await ended(id)).status).toBe("completed");
  expect(calls).toEqual(["attempt", "attempt"]);
});

test("counts the attempts of each step", async () => {
  calls.length = 0;
  const id = await begin("test.flaky");
  expect((await ended(id)).status).toBe("completed");
  expect(calls).toEqual(["before", "flaky", "flaky", "flaky", "last"]);
  const steps = await db.sql("select name, attempts from svc.workflow_steps where run_id = $1 order by seq", [id]);
  expect(steps).toEqual([
    { name: "before", attempts: 1 },
    { name: "flaky", attempts: 3 },
    { name: "last", attempts: 1 },
  ]);
  calls.length = 0;
  const other = await begin("test.uneven");
  expect((await ended(other)).status).toBe("completed");
  expect(calls).toEqual(["first", "first"]);
  // The failure of one branch is not an attempt of the other.
  const counts = await db.sql("select distinct attempts from svc.workflow_steps where run_id = $1", [other]);
  expect(counts).toEqual([{ attempts: null }]);
});

test("repeats all branches that failed at a retry, and none that is done", async () => {
  const id = await begin("test.branches");
  expect((await ended(id)).error.step).toBe("one");
  branchesFail = false;
  calls.length = 0;
  await app.mutate(ann, "workflows.retry", { id });
  expect((await ended(id)).status).toBe("completed");
  expect(calls.sort()).toEqual(["one", "two"]);
});

// The page of a service without @svc/documents showed "pending" for minutes.
test("does not repeat by itself what lacks a package", async () => {
  calls.length = 0;
  const { error } = await ended(await begin("test.incomplete"));
  expect([error.code, calls]).toEqual(["NOT_INSTALLED", ["convert"]]);
});
