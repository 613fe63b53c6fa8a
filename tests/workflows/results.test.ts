// If this file fails, a handler works when it is tried out, and fails after its first wait: the replay gets other values.
import { inspect } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { workflow } from "../../src/index.ts";
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
const start = procedure.mutation
  .name("results.start")
  .handler(({ context }) => context.workflows.start("results.returning", {}));

const db = database();
const api = apiWith({ procedures: { start }, workflows: { returning } });
const startWorker = workers(db, api);
const app = service(db, api);
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  await startWorker();
});

test("a step returns the first time what it returns to each replay", async () => {
  const { id } = (await app.mutate(ann, "results.start")).body.json;
  await until(async () => (await app.query(ann, "workflows.get", { id })).body.json.status === "completed");
  const [first, again] = seen;
  expect(again).toBe(first);
  expect(first).toContain("money: { amount: 5 }");
  expect(first).toContain("when: 1970-01-01T00:00:00.000Z");
});
