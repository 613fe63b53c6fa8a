// If this file fails, workflow runs lose work, do it twice, decide twice, or are visible to strangers.
import { beforeAll, describe, expect, test } from "vitest";
import { deriveWorkflowStatus, SvcError, v, workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

const calls: string[] = [];
let failures = 0;

const approve = workflow("test.approve", {
  args: { amount: v.number(), timeout: v.optional(v.string()) },
  handler: async (wf, args) => {
    const at = await wf.step("record", async () => {
      calls.push("record");
      const userId = (await wf.db.select().from(notes)).length === 0 ? "" : "x";
      return { when: new Date(0), seen: userId, key: wf.idempotencyKey };
    });
    const both = await wf.parallel([
      () => wf.step("one", () => calls.push("one") && 1),
      async () => {
        await wf.sleep(20);
        return wf.step("two", () => calls.push("two") && "2");
      },
    ]);
    const decision = await wf.waitForEvent("approval", args.timeout);
    return { date: at.when instanceof Date, key: at.key, both, approved: decision?.approved ?? null };
  },
});
const flaky = workflow("test.flaky", {
  retries: { limit: 2, delay: 10 },
  handler: async (wf) => {
    await wf.step("first", () => calls.push("first"));
    return wf.step("fails", () => {
      failures++;
      if (failures < 3) throw new Error("a secret text");
      return failures;
    });
  },
});
const hopeless = workflow("test.hopeless", {
  handler: async (wf) => {
    await wf.step("before", () => calls.push("before"));
    await wf.step("refused", () => {
      throw new SvcError("FORBIDDEN", "Not today.", { hint: "Ask tomorrow." });
    });
  },
});
const writes = workflow("test.writes", {
  args: { user: v.string() },
  handler: (wf, { user }) =>
    wf.step("write", async () => {
      await wf.db.insert(notes).values({ title: "by a run", userId: user });
    }),
});
const waiting = workflow("test.waiting", {
  clients: { signal: ["address"] },
  args: v.any(),
  handler: async (wf) => [await wf.waitForEvent("paid"), await wf.waitForEvent("address")],
});
const slow = workflow("test.slow", { maxDuration: 50, handler: (wf) => wf.waitForEvent("never") });

const start = procedure.mutation
  .name("runs.start")
  .input(v.object({ name: v.string(), args: v.any(), key: v.optional(v.string()), fail: v.optional(v.boolean()) }))
  .handler(async ({ context, input }) => {
    const run = await context.workflows.start(input.name, input.args, {
      ...(input.key !== undefined && { idempotencyKey: input.key }),
    });
    if (input.fail) throw new SvcError("CONFLICT");
    return run;
  });

const pay = procedure.mutation
  .name("runs.pay")
  .input(v.object({ id: v.string() }))
  .handler(({ context, input }) => context.workflows.signal(input.id, "paid"));

const listed = procedure.query
  .name("runs.listed")
  .input(v.any())
  .handler(({ context, input }) => context.workflows.list(input));

const db = database();
const workflows = { approve, flaky, hopeless, writes, slow, waiting };
const api = apiWith({ procedures: { start, pay, listed }, workflows });
const startWorker = workers(db, api);
const app = service(db, api);
let ann: User;
let bob: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  bob = await app.signUp("bob");
  await startWorker();
});

const begin = async (name: string, args: unknown = {}, more: object = {}) =>
  (await app.mutate(ann, "runs.start", { name, args, ...more })).body.json?.id as string;
const get = async (id: string) => (await app.query(ann, "workflows.get", { id })).body.json;
const ended = async (id: string) => {
  await until(async () => ["completed", "failed", "cancelled"].includes((await get(id)).status));
  return get(id);
};
const derived = (id: string, status: string) => until(async () => (await get(id)).derivedStatus === status);

describe("a run", () => {
  test("goes through steps, branches, sleeps and a person's decision, each step once", async () => {
    calls.length = 0;
    const id = await begin("test.approve", { amount: 5 });
    await derived(id, "waiting");
    expect(
      (await app.mutate(ann, "workflows.signal", { id, event: "approval", payload: { approved: true } })).status,
    ).toBe(200);
    const run = await ended(id);
    expect(run.status).toBe("completed");
    const sleep = run.steps.find(({ kind }: { kind: string }) => kind === "sleep");
    const [slept, due, awoke] = [sleep.startedAt, sleep.dueAt, sleep.finishedAt].map((time) => Date.parse(time));
    expect(Number(due) - Number(slept)).toBeGreaterThanOrEqual(19); // of 20; parts of a millisecond are cut off
    expect(awoke).toBeGreaterThanOrEqual(Number(due));
    expect(run.result).toEqual({ date: true, key: `${id}:0`, both: [1, "2"], approved: true });
    expect(calls).toEqual(["record", "one", "two"]);
    expect(run.steps.map(({ position, kind, status }: Record<string, string>) => [position, kind, status])).toEqual(
      [
        ["0", "step", "completed"],
        ["1.1.0", "sleep", "completed"],
        ["1.0.0", "step", "completed"],
        ["1.1.1", "step", "completed"],
        ["2", "wait", "completed"],
      ].sort(
        (a, b) =>
          run.steps.findIndex((s: { position: string }) => s.position === a[0]) -
          run.steps.findIndex((s: { position: string }) => s.position === b[0]),
      ),
    );
  });

  test("gets null when the time of a wait is up", async () => {
    const id = await begin("test.approve", { amount: 5, timeout: "30 ms" });
    const run = await ended(id);
    expect([run.result.approved, run.steps.at(-1).status]).toEqual([null, "timed_out"]);
  });

  test("takes an event that came early", async () => {
    const id = await begin("test.approve", { amount: 5 });
    await app.mutate(ann, "workflows.signal", { id, event: "approval", payload: { approved: false } });
    expect((await ended(id)).result.approved).toBe(false);
  });

  test("tries a failing step again, and no step that is done", async () => {
    calls.length = 0;
    const run = await ended(await begin("test.flaky"));
    expect([run.status, run.result, calls]).toEqual(["completed", 3, ["first"]]);
  });

  test("fails with the step's error, and can be retried from a step", async () => {
    calls.length = 0;
    const id = await begin("test.hopeless");
    const run = await ended(id);
    const error = { code: "FORBIDDEN", message: "Not today.", hint: "Ask tomorrow.", step: "refused" };
    expect([run.status, run.error]).toEqual(["failed", error]);
    await app.mutate(ann, "workflows.retry", { id });
    await ended(id);
    expect(calls).toEqual(["before"]);
    expect((await app.mutate(ann, "workflows.retry", { id, fromStep: "nothing" })).status).toBe(400);
    await app.mutate(ann, "workflows.retry", { id, fromStep: "before" });
    await ended(id);
    expect(calls).toEqual(["before", "before"]);
  });

  test("writes under the row-level security of the user who started it", async () => {
    expect((await ended(await begin("test.writes", { user: ann.id }))).status).toBe("completed");
    const foreign = await ended(await begin("test.writes", { user: bob.id }));
    expect([foreign.status, foreign.error.code]).toEqual(["failed", "FORBIDDEN"]);
    expect(await db.sql("select user_id from public.notes where title = 'by a run'")).toEqual([{ user_id: ann.id }]);
  });

  test("fails when its maxDuration is over", async () => {
    expect((await ended(await begin("test.slow"))).error.code).toBe("TIMEOUT");
  });

  test("can be cancelled while it waits, and takes no event after that", async () => {
    const id = await begin("test.approve", { amount: 5 });
    await derived(id, "waiting");
    expect((await app.mutate(ann, "workflows.cancel", { id })).status).toBe(200);
    expect((await get(id)).status).toBe("cancelled");
    expect((await app.mutate(ann, "workflows.signal", { id, event: "approval" })).status).toBe(409);
    expect(await db.sql("select from graphile_worker._private_jobs where key = $1", [`workflow:${id}`])).toEqual([]);
  });
});

describe("starting", () => {
  test("with an idempotency key gives the run that there is", async () => {
    const [one, two] = await Promise.all([1, 2].map(() => begin("test.approve", { amount: 1 }, { key: "order 7" })));
    expect(one).toBe(two);
    expect(one).toBeTruthy();
  });

  test("is undone with the call", async () => {
    const before = await db.sql("select from svc.workflow_runs");
    await begin("test.approve", { amount: 1 }, { fail: true });
    expect(await db.sql("select from svc.workflow_runs")).toHaveLength(before.length);
  });

  test("refuses wrong arguments", async () => {
    const { status, body } = await app.mutate(ann, "runs.start", { name: "test.approve", args: { amount: "5" } });
    expect([status, body.code, body.issues[0].path]).toEqual([400, "VALIDATION_FAILED", ["amount"]]);
    expect(body.error).toBe('The workflow "test.approve" does not take these arguments.');
  });
});

test("a client steers its own run only as the definition allows", async () => {
  const start = async (name: string) =>
    (await app.mutate(ann, "runs.start", { name, args: { amount: 1 } })).body.json.id as string;
  const waiting = await start("test.waiting");
  const answers = [
    await app.mutate(ann, "workflows.signal", { id: waiting, event: "paid" }),
    await app.mutate(ann, "workflows.cancel", { id: waiting }),
    await app.mutate(ann, "workflows.retry", { id: waiting }),
  ];
  expect(answers.map(({ body }) => body.code)).toEqual(Array(3).fill("FORBIDDEN"));
  expect(answers[0]?.body.hint).toContain('clients: { signal: ["paid"] }');
  // The application's own procedure decides for itself.
  expect((await app.mutate(ann, "runs.pay", { id: waiting })).status).toBe(200);
  expect((await app.mutate(ann, "workflows.signal", { id: waiting, event: "address" })).status).toBe(200);
  // Events without a payload: null would look like the timeout of the wait.
  expect((await ended(waiting)).result).toEqual([true, true]);
});

test("a run of another user answers as one that does not exist", async () => {
  const id = await begin("test.approve", { amount: 5 });
  await derived(id, "waiting");
  const calls = (run: string) => [
    app.query(bob, "workflows.get", { id: run }),
    app.mutate(bob, "workflows.signal", { id: run, event: "approval" }),
    app.mutate(bob, "workflows.cancel", { id: run }),
    app.mutate(bob, "workflows.retry", { id: run }),
  ];
  const plain = (answers: Awaited<ReturnType<typeof app.query>>[]) =>
    answers.map(({ status, body }) => ({ status, ...body, requestId: "" }));
  const foreign = plain(await Promise.all(calls(id)));
  expect(foreign.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  expect(foreign).toEqual(plain(await Promise.all(calls(crypto.randomUUID()))));
  expect((await app.query(bob, "workflows.list")).body.json.items).toEqual([]);
  expect((await app.query(ann, "workflows.list", { limit: 1 })).body.json.items).toHaveLength(1);
  for (const wrong of [{ status: "waiting" }, { cursor: "2" }, { limit: "x" }]) {
    for (const name of ["workflows.list", "runs.listed"]) {
      const { status, body } = await app.query(ann, name, wrong);
      expect([status, body.issues?.[0].path]).toEqual([400, Object.keys(wrong)]);
    }
  }
  expect((await get(id)).derivedStatus).toBe("waiting");
});

test.for([
  ["pending", null, "queued"],
  ["pending", "wait:approval", "waiting"],
  ["pending", "sleep#2", "sleeping"],
  ["pending", "retry", "queued"],
  ["running", null, "running"],
  ["completed", null, "completed"],
  ["failed", "wait:approval", "failed"],
  ["cancelled", null, "cancelled"],
] as const)("deriveWorkflowStatus(%s, %s) is %s", ([status, marker, expected]) => {
  expect(deriveWorkflowStatus(status, marker)).toBe(expected);
});
