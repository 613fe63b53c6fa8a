// If this file fails, an error that cannot be read keeps its run from ending, a long one fills the database, or secrets in errors stay.
import { beforeAll, expect, test } from "vitest";
import { SvcError, v, workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { jobs, until, workers } from "../support/worker.ts";

const refusing = {
  get(): never {
    throw new Error("a trap");
  },
};
const errorWith = (name: "cause" | "message" | "stack") => Object.defineProperty(new Error("x"), name, refusing);
const odd: Record<string, () => unknown> = {
  cause: () => errorWith("cause"),
  message: () => errorWith("message"),
  stack: () => errorWith("stack"),
  "a Proxy": () => new Proxy(new Error("x"), refusing),
  "a revoked Proxy": () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
};
const long = "x".repeat(3_000_000);
odd["a long message"] = () => new SvcError("CONFLICT", long, { hint: long });
odd["a secret"] = () => {
  const cause = new Error("connect postgres://app:hunter2hunter2@db/app");
  return new Error("GET /?token=abcdefghijklmnop refused: Bearer qrstuvwxyz0123456789", { cause });
};

const throwing = workflow("odd.throwing", {
  retries: 0,
  args: { what: v.string(), inStep: v.boolean() },
  handler: async (wf, { what, inStep }) => {
    if (!inStep) throw odd[what]?.();
    await wf.step("throws", () => {
      throw odd[what]?.();
    });
  },
});
const start = procedure.mutation
  .name("odd.start")
  .input(v.any())
  .handler(({ context, input }) => context.workflows.start("odd.throwing", input));
const job = procedure.internal
  .name("odd.job")
  .input(v.object({ what: v.string() }))
  .handler(({ input }) => {
    throw odd[input.what]?.();
  });
const schedule = procedure.mutation
  .name("odd.schedule")
  .input(v.object({ what: v.string() }))
  .handler(({ context, input }) => context.scheduler.runAfter(0, "odd.job", input));

const db = database();
const api = apiWith({ procedures: { start, job, schedule }, workflows: { throwing } });
const startWorker = workers(db, api);
const app = service(db, api);
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  await startWorker();
});

const end = async (args: { what: string; inStep: boolean }) => {
  const { id } = (await app.mutate(ann, "odd.start", args)).body.json;
  const get = async () => (await app.query(ann, "workflows.get", { id })).body.json;
  await until(async () => (await get()).status === "failed");
  return get();
};
const failed = async (what: string) => {
  await app.mutate(ann, "odd.schedule", { what });
  const find = async () =>
    (await jobs(db)).find(({ payload }) => (payload.args as { what: string } | undefined)?.what === what);
  await until(async () => Boolean((await find())?.last_error));
  return (await find())?.last_error;
};
const unreadable = Object.keys(odd).filter((what) => what !== "a long message" && what !== "a secret");

test.for(unreadable)(
  "a run whose step or handler throws an error that cannot be read fails at once: %s",
  async (what) => {
    for (const inStep of [true, false]) expect((await end({ what, inStep })).error.code).toBe("INTERNAL");
  },
);

test.for(unreadable)("a job that throws an error that cannot be read is tried again: %s", async (what) => {
  expect(await failed(what)).toBeTruthy();
});

test("a long message is cut where it is stored", async () => {
  for (const inStep of [true, false]) {
    const { error } = await end({ what: "a long message", inStep });
    expect([error.message.length, error.hint.length]).toEqual([10_000, 10_000]);
  }
  expect(await failed("a long message")).toHaveLength(10_000);
});

test("secrets in the errors of runs and jobs are stored as in the log, without their value", async () => {
  const secrets = /hunter2|abcdefgh|qrstuvwx/;
  for (const inStep of [true, false]) {
    const { id } = await end({ what: "a secret", inStep });
    const [run] = await db.sql("select error_detail from svc.workflow_runs where id = $1", [id]);
    expect(run?.error_detail).toContain("refused: Bearer [redacted]");
    expect(run?.error_detail).toContain("postgres://app:[redacted]@db");
    expect(run?.error_detail).not.toMatch(secrets);
  }
  expect(await failed("a secret")).toBe("GET /?token=[redacted] refused: Bearer [redacted]");
});
