// If this file fails, a run cannot convert its user's stored file, or converts another user's.
import { beforeAll, expect, test } from "vitest";
import { v, workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

const convert = workflow("test.convert", {
  args: { storageId: v.string(), more: v.any() },
  handler: async (wf, { storageId, more }) => {
    const { markdown, kind } = await wf.services.document.convert({ storageId, ...more });
    return { markdown, kind };
  },
});
const all = { filename: "table.txt", mimeType: "text/csv", corpus: "c", visibility: "private" };
const store = procedure.mutation
  .name("files.store")
  .handler(({ context }) => context.storage.storeBuffer(Buffer.from("a,b\n1,2\n"), "table.csv", "text/csv"));
const start = procedure.mutation
  .name("files.start")
  .input(v.object({ storageId: v.string(), more: v.any() }))
  .handler(({ context, input }) => context.workflows.start("test.convert", input));
const has = procedure.query.name("files.has").handler(({ context }) => "document" in context || "services" in context);

const db = database();
const api = apiWith({ procedures: { store, start, has }, workflows: { convert } });
const startWorker = workers(db, api);
const app = service(db, api);
let ann: User;
let bob: User;
let storageId: string;
beforeAll(async () => {
  ann = await app.signUp("ann");
  bob = await app.signUp("bob");
  storageId = (await app.mutate(ann, "files.store")).body.json;
  await startWorker();
});

async function runOf(user: User, more: object = all) {
  const { id } = (await app.mutate(user, "files.start", { storageId, more })).body.json;
  const get = async () => (await app.query(user, "workflows.get", { id })).body.json;
  await until(async () => ["completed", "failed"].includes((await get()).status));
  return get();
}

test("a run converts what its user stored, as a step of its own", async () => {
  const run = await runOf(ann);
  expect(run.result).toEqual({ markdown: "| a | b |\n| --- | --- |\n| 1 | 2 |", kind: "csv" });
  expect(run.steps).toMatchObject([{ kind: "step", name: "document.convert", status: "completed" }]);
  // The caller's file name and type take precedence over the stored ones.
  expect((await runOf(ann, { ...all, filename: "table.md", mimeType: "" })).result.kind).toBe("md");
  expect((await runOf(ann, { filename: "table" })).result.kind).toBe("csv");
});

test("a run cannot convert what another user stored", async () => {
  expect(await runOf(bob)).toMatchObject({ status: "failed", error: { code: "NOT_FOUND" } });
});

test.for([
  { provider: "parser_c" },
  { mode: "force" },
  { paidFallback: "false" }, // as a form sends it: it would be leave to pay
  { maxServiceCredits: "5" },
  { maxCredits: 5 },
])("options that are none are refused: %j", async (more) => {
  const error = { code: "BAD_REQUEST", message: expect.stringContaining(Object.keys(more)[0] ?? "") };
  expect(await runOf(ann, { ...all, ...more })).toMatchObject({ status: "failed", error });
});

test("outside workflows there is no conversion", async () => {
  expect((await app.query(ann, "files.has")).body.json).toBe(false);
});

test("a conversion is read, and found again, for its owner alone", async () => {
  const [kept] = await db.sql(
    `select conversion_id as id from svc_private.keep_conversion($1, repeat('0', 64), 'o', '{"markdown": "mine"}', '[]')`,
    [ann.id],
  );
  const found = async (owner: string | null) => {
    const [row] = await db.sql(
      `select svc_private.read_conversion($1, $2) ->> 'markdown' as text, svc_private.find_conversion($2, repeat('0', 64), 'o') as id`,
      [kept?.id, owner],
    );
    return row;
  };
  expect(await found(ann.id)).toEqual({ text: "mine", id: kept?.id });
  for (const owner of [bob.id, null]) expect(await found(owner)).toEqual({ text: null, id: null });
});
