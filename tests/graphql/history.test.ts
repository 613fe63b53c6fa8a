// If this file fails, GraphQL shows the history of a row to strangers, shows hidden columns of it, or another history than a
// call by name.
import { createCrudFactory, createSvcProcedureBuilders, defineApi } from "@svc/core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { api, installAll, schema } from "../history/application.ts";
import { database } from "../support/database.ts";
import { TestService, type User } from "../support/service.ts";
import { asker } from "./support.ts";

const db = database();
const app = new TestService(db, api, {}, schema);
const ask = asker(app);
let ann: User;
let bob: User;
beforeAll(async () => {
  await installAll(db);
  await db.sql("insert into slugs values ('harbour', 'of ann')");
  await app.start();
  [ann, bob] = await Promise.all([app.signUp("ann"), app.signUp("bob")]);
});
afterAll(() => app.stop());

const created = async (row: object) =>
  (await app.mutate(ann, "invoices.create", { title: "Hail", ...row })).body.json.id as string;
const query = `query ($id: UUID!, $first: Int, $after: String) {
  invoiceHistory(id: $id, first: $first, after: $after) { nodes { id at actor operation changed } nextCursor }
}`;

test("it is the history of a call by name: pages, values, omitted and hidden columns", async () => {
  const id = await created({ iban: "DE02", cents: "9007199254740993", dueAt: "2026-01-01T10:00:00.000Z" });
  await db.sql("update invoices set secret = 's' where id = $1", [id]);
  for (const title of ["a", "b", "c"]) await app.mutate(ann, "invoices.update", { id, title });
  let after: string | null = null;
  for (const first of [undefined, 1, 100]) {
    const byName = await app.query(ann, "invoices.history", { id, limit: first, cursor: after });
    const { data, errors } = await ask(ann, query, { id, first, after });
    expect(errors).toEqual([]);
    const { data: nodes, nextCursor } = byName.body.json;
    expect(data.invoiceHistory).toEqual({ nodes, nextCursor });
    after = nextCursor;
  }
  const { data } = await ask(ann, query, { id, first: 5 });
  const inserted = data.invoiceHistory.nodes.at(-1);
  expect(inserted).toMatchObject({
    operation: "insert",
    actor: ann.id,
    changed: { iban: null, title: [null, "Hail"] },
  });
  expect(JSON.stringify(data)).not.toContain("secret");
});

test("a column that the caller's role may not select is left out", async () => {
  const id = await created({ note: "for two eyes" });
  await db.sql("revoke select on invoices from svc_authenticated");
  await db.sql("grant select (id, user_id, title, deleted_at) on invoices to svc_authenticated");
  try {
    const { data } = await ask(ann, query, { id });
    const [{ changed }] = data.invoiceHistory.nodes;
    expect(Object.keys(changed).sort()).toEqual(["id", "title", "userId"]);
  } finally {
    await db.sql("grant select on invoices to svc_authenticated");
  }
});

test("strangers get null, as for the row; visitors are refused, unless the resource is for them", async () => {
  const id = await created({});
  expect((await ask(bob, query, { id })).data).toEqual({ invoiceHistory: null });
  expect((await ask(ann, query, { id: crypto.randomUUID() })).data).toEqual({ invoiceHistory: null });
  const visitor = await ask(null, query, { id });
  expect([visitor.data, visitor.errors[0].extensions.code]).toEqual([{ invoiceHistory: null }, "UNAUTHORIZED"]);
  await app.mutate(ann, "invoices.remove", { id });
  expect((await ask(ann, query, { id })).data).toEqual({ invoiceHistory: null });
  const { data } = await ask(null, '{ slugHistory(id: "harbour") { nodes { operation changed } } }');
  expect(data.slugHistory.nodes).toEqual([
    { operation: "insert", changed: { id: [null, "harbour"], owner: [null, "of ann"] } },
  ]);
});

test("a cursor of a caller is no SQL, and many pages count towards the cost", async () => {
  const wrong = await ask(ann, query, { id: crypto.randomUUID(), after: "1 or 1=1" });
  expect(wrong.errors[0].extensions).toMatchObject({ code: "VALIDATION_FAILED", issues: [{ path: ["cursor"] }] });
  const id = await created({});
  const field = `slugHistory(id: "harbour", first: 100) { nodes { id } }`;
  const many = await ask(ann, `{ ${Array.from({ length: 30 }, (_, n) => `h${n}: ${field}`).join(" ")} }`);
  expect([many.status, many.data]).toEqual([400, undefined]);
  const two = await ask(ann, `{ invoice(id: "${id}") { title } invoiceHistory(id: "${id}") { nodes { __typename } } }`);
  expect(two.data).toEqual({ invoice: { title: "Hail" }, invoiceHistory: { nodes: [{ __typename: "RowChange" }] } });
});

test("where a table has the name of the field, the field has another one", async () => {
  const createCrud = createCrudFactory(createSvcProcedureBuilders());
  const procedures = {
    invoices: createCrud(schema.invoices, { history: true }),
    trail: createCrud(schema.slugs, { prefix: "invoiceHistories", allowAnonymous: true }),
  };
  const named = defineApi({ procedures });
  for (const crud of named["~svc"].crud) await db.sql(`set role svc_owner; ${crudFile(crud)}`);
  const other = new TestService(db, named, {}, schema);
  await other.start();
  onTestFinished(() => other.stop());
  const { data } = await asker(other)(
    null,
    `{ invoiceHistory(id: "harbour") { owner } __schema { queryType { fields { name type { name } } } } }`,
  );
  expect(data.invoiceHistory).toEqual({ owner: "of ann" });
  expect(data.__schema.queryType.fields).toContainEqual({ name: "invoiceRowHistory", type: { name: "RowHistory" } });
});
