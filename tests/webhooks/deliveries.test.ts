// If this file fails, a user sees or repeats deliveries to another user's endpoint, or does not see those to an own one.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { clientApi } from "../../src/codegen/client-api.ts";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { crudSchemas } from "../../src/crud/openapi.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi } from "../../src/index.ts";
import { Schemas } from "../../src/kit/schemas.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { TestService, type User } from "../support/service.ts";
import { until } from "../support/worker.ts";
import { otherSecret, webhooks } from "./application.ts";
import { endpoints, usersApi } from "./definitions.ts";

const db = database();
const { answers, got, worker, deliveries, settled, addEndpoint, addNote } = webhooks(db);
const app = new TestService(db, usersApi, {}, { ...schema, endpoints });
const crud = usersApi["~svc"].crud.find(({ prefix }) => prefix === "endpoints");
if (!crud) throw new Error("endpoints is missing");
let ann: User;
let bob: User;
beforeAll(async () => {
  await db.sql(`set role svc_owner; ${crudFile(crud)}; reset role`);
  await app.start();
  [ann, bob] = await Promise.all([app.signUp("ann"), app.signUp("bob")]);
});
afterAll(() => app.stop());

let endpoint: string;
beforeEach(async () => {
  endpoint = await addEndpoint(ann.id, "/ann");
});

const list = (user: User | null, args: object = {}) =>
  app.query(user, "endpoints.deliveries", { id: endpoint, ...args });
const retry = (user: User | null, delivery: unknown, id = endpoint) =>
  app.mutate(user, "endpoints.retryDelivery", { id, delivery });
/** Ends the deliveries without sending them. */
const die = () =>
  db.sql(`update svc.webhook_deliveries set state = 'dead', ended_at = now(), attempts = 11, last_status = 500,
    last_error = 'The receiver answered 500.' || repeat('x', 1000) where state = 'pending'`);

test("the owner sees deliveries to an endpoint, newest first, page by page, without bodies and secrets", async () => {
  answers.set("/ann", 500);
  await worker();
  for (const title of ["boat", "oar", "sail"]) await addNote(ann.id, title);
  await until(async () => (await deliveries()).every(({ last_status }) => last_status === 500));
  const { body } = await list(ann);
  const ids = (await deliveries()).map(({ id }) => id).reverse();
  expect(body.json.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2));
  expect(body.json.data[0]).toEqual({
    id: ids[0],
    event: "note-changed",
    state: "pending",
    attempts: 1,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    dueAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    endedAt: null,
    status: 500,
    error: "The receiver answered 500.",
  });
  expect(JSON.stringify(body)).not.toMatch(new RegExp(`boat|sail|${otherSecret}`));
  const next = await list(ann, { cursor: body.json.nextCursor });
  expect(next.body.json).toMatchObject({ data: [{ id: ids[2] }], nextCursor: null });
  expect((await list(ann, { limit: 100 })).body.json.data).toHaveLength(3);
});

test("a stranger and a visitor see none, nor does the owner of an endpoint that was removed or never was", async () => {
  await addNote(ann.id, "boat");
  await die();
  const [one] = await deliveries();
  for (const [user, status] of [
    [bob, 404],
    [null, 401],
  ] as const) {
    expect([(await list(user)).status, (await retry(user, one?.id)).status]).toEqual([status, status]);
  }
  const ofBob = await addEndpoint(bob.id, "/bob");
  expect((await app.query(bob, "endpoints.deliveries", { id: ofBob })).body.json).toEqual({
    data: [],
    nextCursor: null,
  });
  expect((await retry(bob, one?.id, ofBob)).status).toBe(404);
  expect((await list(ann, { id: crypto.randomUUID() })).status).toBe(404);
  await app.mutate(ann, "endpoints.remove", { id: endpoint });
  expect([(await list(ann)).status, (await retry(ann, one?.id)).status]).toEqual([404, 404]);
  expect(await deliveries()).toMatchObject([{ state: "dead" }]);
});

test("an endpoint that is given to another user gets nothing of the user before, also if its new owner asks for it", async () => {
  for (const title of ["boat", "oar"]) await addNote(ann.id, title);
  await db.sql("update endpoints set user_id = $2 where id = $1", [endpoint, bob.id]);
  await addNote(bob.id, "of bob");
  await worker();
  const ofAnn = (await deliveries()).slice(0, 2);
  await until(async () => (await deliveries()).every(({ state }) => state !== "pending"));
  expect((await deliveries()).map(({ state, last_error }) => [state, last_error])).toEqual([
    ["dead", "The endpoint belongs to somebody else now."],
    ["dead", "The endpoint belongs to somebody else now."],
    ["sent", null],
  ]);
  expect((await retry(bob, ofAnn[0]?.id)).status).toBe(200);
  await until(async () => (await deliveries()).every(({ state }) => state !== "pending"));
  expect(got.map(({ text }) => JSON.parse(text).data.title)).toEqual(["of bob"]);
});

test("the owner sends a dead delivery again, once", async () => {
  const id = await addNote(ann.id, "boat");
  await die();
  const [one] = await deliveries();
  expect((await list(ann)).body.json.data[0].error).toHaveLength(200);
  await worker();
  const { body } = await retry(ann, one?.id);
  expect(body.json).toMatchObject({
    id: one?.id,
    state: "pending",
    attempts: 0,
    dueAt: expect.any(String),
    endedAt: null,
  });
  await settled();
  expect(got.map(({ path, body }) => [path, body.data.id])).toEqual([["/ann", id]]);
  expect((await retry(ann, one?.id)).body.json).toMatchObject({ state: "sent", attempts: 1, status: 200 });
  expect((await retry(ann, crypto.randomUUID())).status).toBe(404);
});

test("who sees an endpoint and may not change it sees its deliveries and repeats none", async () => {
  await addNote(ann.id, "boat");
  await die();
  const [one] = await deliveries();
  await db.sql("create policy select_all on endpoints for select to svc_authenticated using (true)");
  try {
    expect((await list(bob)).body.json.data).toMatchObject([{ id: one?.id, state: "dead" }]);
    expect((await retry(bob, one?.id)).status).toBe(404);
    await db.sql("revoke update on endpoints from svc_authenticated");
    expect((await retry(ann, one?.id)).status).toBe(403);
  } finally {
    await db.sql("drop policy select_all on endpoints; grant update on endpoints to svc_authenticated");
  }
  expect(await deliveries()).toMatchObject([{ state: "dead" }]);
});

test("a delivery of a webhook that is gone is not sent again", async () => {
  await addNote(ann.id, "boat");
  await die();
  await db.sql("update svc.webhook_deliveries set webhook = 'gone'");
  const { body } = await retry(ann, (await deliveries())[0]?.id);
  expect(body.json).toMatchObject({ event: "gone", state: "dead" });
});

test.for([
  ["deliveries", { limit: "many" }, "limit"],
  ["deliveries", { cursor: "1 or 1=1" }, "cursor"],
  ["retryDelivery", { delivery: "1') or true --" }, "delivery"],
  ["retryDelivery", {}, "delivery"],
])("%s with %j is refused", async ([operation, args, path]) => {
  const call =
    operation === "deliveries" ? app.query(ann, ...to("deliveries")) : app.mutate(ann, ...to("retryDelivery"));
  function to(name: string): [string, object] {
    return [`endpoints.${name}`, { id: endpoint, ...(args as object) }];
  }
  const { status, body } = await call;
  expect([status, body.issues?.[0].path]).toEqual([400, [path]]);
});

test("SQL of a request asks svc.row_deliveries() under the policies, and nothing below it", async () => {
  await addNote(ann.id, "boat");
  const client = await db.connect("request");
  const read = async (role: string, user: User, text: string) => {
    await client.query("begin");
    try {
      await client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [user.id, role]);
      return (await client.query(text, [endpoint])).rows;
    } finally {
      await client.query("rollback");
    }
  };
  const own = "select webhook from svc.row_deliveries('public.endpoints', $1)";
  expect(await read("svc_authenticated", ann, own)).toEqual([{ webhook: "note-changed" }]);
  expect(await read("svc_authenticated", bob, own)).toEqual([]);
  expect(
    await read("svc_authenticated", ann, "select webhook from svc.row_deliveries('notes', '1') where $1 <> ''"),
  ).toEqual([]);
  for (const text of [
    `select svc_private.find_endpoint_deliveries('"public"."endpoints"', $1, null, null, 9)`,
    "select svc_private.retry_deliveries($1::uuid, null)",
    "select svc.webhook_deliveries where $1 <> ''",
  ]) {
    await expect(read("svc_authenticated", ann, text)).rejects.toThrow(/permission denied|missing FROM/);
  }
  await expect(read("svc_anonymous", ann, own)).rejects.toMatchObject({ code: "42501" });
});

test("the SDK converts no values of deliveries, and the OpenAPI document has both operations", () => {
  const text = clientApi(usersApi, "/app/web/svc", "/app/backend/index.ts");
  expect(text).toContain('deliveries: query("endpoints.deliveries"),');
  expect(text).toContain('retryDelivery: mutation("endpoints.retryDelivery"),');
  const { deliveries, retryDelivery } = crudSchemas(crud, new Schemas());
  expect(deliveries.args).toMatchObject({ properties: { limit: { default: 2, maximum: 3 } }, required: ["id"] });
  expect(retryDelivery.args).toMatchObject({ required: ["id", "delivery"] });
});

test("deliveries of a table that no webhook delivers to are a mistake", () => {
  const createCrud = createCrudFactory(createSvcProcedureBuilders());
  expect(() => defineApi({ procedures: { endpoints: createCrud(endpoints, { deliveries: true }) } })).toThrow(
    'createCrud: deliveries of "endpoints" is for no webhook.',
  );
});
