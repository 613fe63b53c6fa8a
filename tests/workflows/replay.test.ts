// If this file fails, a crash makes a run repeat a step, a changed handler corrupts old runs, or an event is lost.
import { beforeAll, describe, expect, test } from "vitest";
import { v, type WorkflowContext, workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { heard, Socket } from "../support/sockets.ts";
import { until, workers } from "../support/worker.ts";

/** The behaviour of the handler of "replay.changing", which tests change during a run. */
let way: "first" | "renamed" | "shorter" | "kind" | "branches" = "first";
/** How often each step of "replay.crashing" was executed. */
const done = new Map<string, number>();
const count = (name: string) => done.set(name, (done.get(name) ?? 0) + 1);

const changing = workflow("replay.changing", {
  handler: async (wf) => {
    if (way === "kind") await wf.sleep(0);
    else if (way === "branches") await wf.parallel([() => wf.step("one", () => 1)]);
    else await wf.step(way === "renamed" ? "another" : "one", () => 1);
    if (way !== "shorter") await wf.waitForEvent("go");
  },
});
/** The branches of "replay.branching", which a release changes. */
let branches: string[][] = [];
let after = 0;
const branching = workflow("replay.branching", {
  handler: async (wf) => {
    await wf.parallel(
      branches.map((names) => async () => {
        for (const name of names) await wf.step(name, () => 1);
      }),
    );
    await wf.waitForEvent("go");
    await wf.step("after", () => ++after);
  },
});
/** Twenty steps, ten of them in parallel, a sleep after each: every checkpoint is followed by a replay from the start. */
const crashing = workflow("replay.crashing", {
  handler: async (wf) => {
    for (let index = 0; index < 10; index++) {
      await wf.step(`step ${index}`, () => count(`step ${index}`));
      await wf.sleep(0);
    }
    await wf.parallel(
      Array.from({ length: 10 }, (_, index) => async () => {
        await wf.step(`branch ${index}`, () => count(`branch ${index}`));
        await wf.sleep(index);
      }),
    );
  },
});
const racing = workflow("replay.racing", {
  args: { timeout: v.number() },
  handler: async (wf, { timeout }) => ((await wf.waitForEvent("go", timeout)) === null ? "time" : "event"),
});
let isHeld = false;
const gate = Promise.withResolvers<void>();
const caught: unknown[] = [];
const catching = workflow("replay.catching", {
  handler: async (wf) => {
    const held = wf.step("held", () => {
      isHeld = true;
      return gate.promise;
    });
    await held.catch((error) => caught.push(error));
  },
});
const mistakes: Record<string, (wf: WorkflowContext) => unknown> = {
  promises: (wf) => wf.parallel([wf.step("begun", () => 1)] as never),
  nested: (wf) => wf.step("nested", () => wf.sleep(1)),
  "no function": (wf) => wf.step("mail", Promise.resolve() as never),
  outside: (wf) => wf.db,
  nameless: (wf) => wf.step("", () => 1),
  moons: (wf) => wf.waitForEvent("go", "3 moons"),
  file: (wf) => wf.step("file", () => new Blob(["x"])),
  result: () => ({ file: new Blob(["x"]) }),
  getter: () => ({
    get it() {
      throw new TypeError("a secret");
    },
  }),
};
const mistaken = workflow("replay.mistaken", {
  args: { kind: v.string() },
  retries: { limit: 3, delay: "1 hour" },
  handler: (wf, { kind }) => mistakes[kind]?.(wf),
});

const start = procedure.mutation
  .name("replay.start")
  .input(v.object({ name: v.string(), args: v.any() }))
  .handler(({ context, input }) => context.workflows.start(input.name, input.args));

const db = database();
const api = apiWith({
  procedures: { start },
  workflows: { branching, catching, changing, crashing, mistaken, racing },
});
const startWorker = workers(db, api);
const app = service(db, api);
let ann: User;
let bob: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  bob = await app.signUp("bob");
  await startWorker();
});

const begin = async (name: string, args: unknown = {}) =>
  (await app.mutate(ann, "replay.start", { name, args })).body.json.id as string;
const get = async (id: string) => (await app.query(ann, "workflows.get", { id })).body.json;
const ended = async (id: string) => {
  await until(async () => ["completed", "failed"].includes((await get(id)).status));
  return get(id);
};

describe("a handler that was changed under its runs", () => {
  test.for(["renamed", "shorter", "kind", "branches"] as const)(
    "%s: the run fails with NON_DETERMINISTIC",
    async (change) => {
      way = "first";
      const id = await begin("replay.changing");
      await until(async () => (await get(id)).derivedStatus === "waiting");
      way = change;
      await app.mutate(ann, "workflows.signal", { id, event: "go" });
      const run = await ended(id);
      expect([run.status, run.error.code]).toEqual(["failed", "NON_DETERMINISTIC"]);
      way = "first";
      await app.mutate(ann, "workflows.retry", { id });
      expect((await ended(id)).status).toBe("completed");
    },
  );

  test.for([
    ["shorter", [["a"], ["c"]]],
    ["fewer", [["a", "b"]]],
    ["no", []],
  ] as [string, string[][]][])(
    "%s branches: no step after them runs, and the old handler can continue",
    async ([, fewer]) => {
      branches = [["a", "b"], ["c"]];
      after = 0;
      const id = await begin("replay.branching");
      await until(async () => (await get(id)).derivedStatus === "waiting");
      branches = fewer;
      await app.mutate(ann, "workflows.signal", { id, event: "go" });
      const { status, error } = await ended(id);
      expect([status, error.code, after]).toEqual(["failed", "NON_DETERMINISTIC", 0]);
      branches = [["a", "b"], ["c"]];
      await app.mutate(ann, "workflows.retry", { id });
      expect([(await ended(id)).status, after]).toEqual(["completed", 1]);
    },
  );
});

test("a handler that catches errors goes no further in a run that was cancelled under it", async () => {
  const id = await begin("replay.catching");
  await until(() => isHeld);
  await app.mutate(ann, "workflows.cancel", { id });
  gate.resolve();
  const job = "select from graphile_worker._private_jobs where key = 'workflow:' || $1";
  await until(async () => (await db.sql(job, [id])).length === 0);
  expect(caught).toEqual([]);
});

describe("a mistake in a call of wf is told in the error of the run, which is not tried again:", () => {
  test.for<[string, string]>([
    ["promises", "wf.parallel takes a list of functions, as in"],
    ["nested", 'wf.sleep was called inside the step "nested". Call it in the handler, after the step.'],
    ["no function", 'wf.step takes a function, as in wf.step("mail", () => …).'],
    ["outside", "wf.db is only available inside a step:"],
    [
      "nameless",
      "A step or event needs a name of 1 to 200 characters, without NUL and without halves of surrogate pairs.",
    ],
    ["moons", '"3 moons" is not a duration of at most ten years.'],
    ["file", 'The result of the step "file" holds a file.'],
    ["result", "The workflow's result holds a file."],
  ])("%s", async ([kind, says]) => {
    const { status, error, attempts } = await ended(await begin("replay.mistaken", { kind }));
    expect([status, error.code, error.hint, attempts]).toEqual([
      "failed",
      "INTERNAL",
      expect.stringContaining(says),
      0,
    ]);
  });

  test("what an author's own code throws is not", async () => {
    const { error } = await ended(await begin("replay.mistaken", { kind: "getter" }));
    expect(error).toEqual({ code: "INTERNAL", message: expect.any(String) });
  });
});

test("a replay after every checkpoint does no step again, in a row or in parallel", async () => {
  const run = await ended(await begin("replay.crashing"));
  expect(run.status).toBe("completed");
  expect([...done.values()]).toEqual(Array(20).fill(1));
});

test("an event and a timeout that meet have one outcome, and no event that was accepted before it is lost", async () => {
  const ids = await Promise.all(Array.from({ length: 100 }, () => begin("replay.racing", { timeout: 40 })));
  await Promise.all(ids.map((id) => app.mutate(ann, "workflows.signal", { id, event: "go", payload: 1 })));
  for (const id of ids) {
    const { status, result, events, steps } = await ended(id);
    expect(status).toBe("completed");
    const taken = events.filter(({ takenBy }: { takenBy: string | null }) => takenBy !== null);
    expect([result, steps[0].status]).toEqual(taken.length === 1 ? ["event", "completed"] : ["time", "timed_out"]);
  }
});

test("a worker whose run was given to another can write nothing for it", async () => {
  way = "first";
  const id = await begin("replay.changing");
  await until(async () => (await get(id)).derivedStatus === "waiting");
  const { claim } = (await db.sql("select svc_private.claim_run($1) as claim", [id]))[0] as {
    claim: { fence: number };
  };
  await db.sql("select svc_private.claim_run($1)", [id]);
  const late = "select svc.record_step($1, $2, '9', 'late', '{}', null, now())";
  await expect(db.sql(late, [id, claim.fence])).rejects.toMatchObject({ code: "SV409" });
  await db.sql(late, [id, claim.fence + 1]);
});

test("subscribers of a run and of the list hear of it: its user's, and nobody else's", async () => {
  way = "first";
  const id = await begin("replay.changing");
  await until(async () => (await get(id)).derivedStatus === "waiting");
  const key = `workflows.get::${JSON.stringify({ id })}`;
  const [own, foreign] = await Promise.all([Socket.open(app, ann), Socket.open(app, bob)]);
  for (const socket of [own, foreign]) {
    await socket.subscribe(key);
    await socket.subscribe("workflows.list");
  }
  await app.mutate(ann, "workflows.cancel", { id });
  await own.wait({ type: "invalidate", queries: [key, "workflows.list"] });
  expect(await heard(foreign, db)).toEqual([]);
});
