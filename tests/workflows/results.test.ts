// If this file fails, a handler works when it is tried out, and fails after its first wait: the replay gets other values.
import { inspect } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { SvcError, v, workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

class Money {
  amount = 5;
  format() {
    return `${this.amount} €`;
  }
}
const seen: string[] = [];
const returning = workflow("results.returning", {
  handler: async (wf) => {
    const made = await wf.step("make", () => ({
      money: new Money(),
      bytes: Buffer.from("x"),
      when: new Date(0),
      count: 10n,
      tags: new Set(["a"]),
      none: undefined,
      infinite: Number.POSITIVE_INFINITY,
      work: () => 1,
    }));
    const nothing = await wf.step("nothing", () => undefined);
    seen.push(inspect([made, nothing]));
    await wf.sleep(0);
  },
});
const large = workflow("results.large", {
  handler: async (wf) => {
    for (let index = 0; index < 70; index++) {
      await wf.step(`part ${index}`, () => "x".repeat(1_000_000));
      if (index === 40) await wf.sleep(0);
    }
  },
});
const forgetful = workflow("results.forgetful", {
  handler: async (wf) => {
    const refuse = () => {
      throw new SvcError("FORBIDDEN");
    };
    wf.step("caught", refuse).catch(() => {});
    await Promise.allSettled([wf.step("also caught", refuse)]);
    wf.step("done", () => 1);
    wf.step("forgotten", refuse);
    await wf.sleep(0);
  },
});
const start = procedure.mutation
  .name("results.start")
  .input(v.string())
  .handler(({ context, input }) => context.workflows.start(input, {}));

const db = database();
const api = apiWith({ procedures: { start }, workflows: { forgetful, large, returning } });
const startWorker = workers(db, api);
const app = service(db, api);
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  await startWorker();
});

test("a step returns the first time what it returns to each replay", async () => {
  const { id } = (await app.mutate(ann, "results.start", "results.returning")).body.json;
  await until(async () => (await app.query(ann, "workflows.get", { id })).body.json.status === "completed");
  const [first, again] = seen;
  expect(again).toBe(first);
  expect(first).toContain("money: { amount: 5 }");
  expect(first).toContain("when: 1970-01-01T00:00:00.000Z");
});

test("a run that returns more than a worker can read fails at the step, and is not taken up in vain for ever", async () => {
  const { id } = (await app.mutate(ann, "results.start", "results.large")).body.json;
  const find = "select status, error, (select count(*)::int from svc.workflow_steps where run_id = id) as steps";
  const get = async () => (await db.sql(`${find} from svc.workflow_runs where id = $1`, [id]))[0];
  await until(async () => (await get())?.status === "failed");
  expect(await get()).toEqual({
    status: "failed",
    error: expect.objectContaining({ step: "part 67", hint: expect.stringContaining("larger than 64 MiB") }),
    steps: 69, // with the sleep, and the failed step
  });
});

test("a run fails with the error of a step that its handler has neither awaited nor caught", async () => {
  const { id } = (await app.mutate(ann, "results.start", "results.forgetful")).body.json;
  const get = async () => (await app.query(ann, "workflows.get", { id })).body.json;
  await until(async () => ["completed", "failed"].includes((await get()).status));
  const { status, error, steps } = await get();
  expect([status, error.code, error.step]).toEqual(["failed", "FORBIDDEN", "forgotten"]);
  expect(steps).toHaveLength(5);
});
