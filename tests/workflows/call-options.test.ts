// If this file fails, a misspelt option of ctx.workflows starts a run twice, lists all runs, or does a whole run anew.
import { beforeAll, expect, test } from "vitest";
import { v, workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";

const waiting = workflow("test.waiting", { handler: (wf) => wf.waitForEvent("never") });
const call = procedure.mutation
  .name("runs.call")
  .input(v.any())
  .handler(({ context: { workflows }, input: { what, args } }) =>
    workflows[what as "start"](...(args as Parameters<typeof workflows.start>)),
  );

const db = database();
const app = service(db, apiWith({ procedures: { call }, workflows: { waiting } }));
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
});
const ask = (what: string, ...args: unknown[]) => app.mutate(ann, "runs.call", { what, args });
const unknown = "00000000-0000-4000-8000-000000000000";

test.for([
  [
    "start",
    ["test.waiting", {}, { idempotencykey: "k" }],
    '"idempotencykey" is not a known key. Did you mean "idempotencyKey"?',
  ],
  ["start", ["test.waiting", {}, null], "start: must be an object, as in { key: value }"],
  ["list", [{ stauts: "failed" }], '"stauts" is not a known key. Did you mean "status"?'],
  ["list", ["failed"], "list: must be an object, as in { key: value }"],
  ["retry", [unknown, { fromstep: "pay" }], '"fromstep" is not a known key. Did you mean "fromStep"?'],
] as const)("%s with %j is refused", async ([what, args, message]) => {
  const { status, body } = await ask(what, ...args);
  expect([status, body.error]).toEqual([400, expect.stringContaining(message)]);
});

test("with right options they work", async () => {
  const run = await ask("start", "test.waiting", {}, { idempotencyKey: "k" });
  expect(await ask("start", "test.waiting", {}, { idempotencyKey: "k" })).toMatchObject({ body: run.body });
  const { body } = await ask("list", { status: "pending", name: "test.waiting", limit: 5 });
  expect(body.json.items).toMatchObject([run.body.json]);
  expect((await ask("retry", unknown, { fromStep: "pay" })).status).toBe(404);
});
