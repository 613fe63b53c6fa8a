/** Writes by GraphQL: only the generated procedures; all of a request or nothing. */
import { beforeAll, expect, test } from "vitest";
import { defineApi } from "../../src/app/api.ts";
import { crud } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";
import { asker } from "./support.ts";

const db = database();
const { hooked, articles, ...others } = crud;
// The first resource of a table is used: here the one with hooks.
const app = service(db, defineApi({ procedures: { hooked, articles, ...others } }));
const ask = asker(app);
let ann: User;
let ben: User;

beforeAll(async () => {
  [ann, ben] = [await app.signUp("ann"), await app.signUp("ben")];
});

test("a row is created, changed and removed, and each write answers with it", async () => {
  const created = await ask(
    ann,
    'mutation { createNote(input: { title: "a", priority: 3 }) { id title priority userId } }',
  );
  const { id } = created.data.createNote;
  expect(created.data.createNote).toEqual({ id, title: "a", priority: 3, userId: ann.id });
  const updated = await ask(ann, `mutation { updateNote(id: ${id}, patch: { done: true }) { title done } }`);
  expect(updated.data.updateNote).toEqual({ title: "a", done: true });
  expect((await ask(ann, `mutation { removeNote(id: ${id}) }`)).data.removeNote).toBe(id);
  expect(await db.sql("select id from notes where id = $1", [id])).toEqual([]);
});

test("a row of a table without updatedAt is changed too", async () => {
  const { data } = await ask(ann, 'mutation { createPost(input: { title: "a" }) { id } }');
  const changed = await ask(
    ann,
    'mutation ($id: UUID!) { updatePost(id: $id, patch: { title: "b" }) { title } }',
    data.createPost,
  );
  expect([changed.errors, changed.data]).toEqual([[], { updatePost: { title: "b" } }]);
});

test("two changes of one row in one request each answer with what they made of it", async () => {
  const { data } = await ask(ann, 'mutation { createNote(input: { title: "a" }) { id } }');
  const change = (alias: string, title: string) =>
    `${alias}: updateNote(id: ${data.createNote.id}, patch: { title: "${title}" }) { id title }`;
  const answer = await ask(ann, `mutation { ${change("first", "b")} ${change("second", "c")} }`);
  expect([answer.data.first.title, answer.data.second.title]).toEqual(["b", "c"]);
});

test("when one write of a request fails, none of them has happened and none is answered", async () => {
  const answer = await ask(ann, 'mutation { createNote(input: { title: "gone" }) { id } removeNote(id: 2147483647) }');
  expect(answer.data).toBeNull();
  expect(answer.errors[0]).toMatchObject({ path: ["removeNote"], extensions: { code: "NOT_FOUND" } });
  expect(await db.sql("select id from notes where title = 'gone'")).toEqual([]);

  // Later fields are not executed either.
  const behind = await ask(ann, 'mutation { removeNote(id: 2147483647) createNote(input: { title: "gone" }) { id } }');
  expect(behind.errors.map(({ extensions }) => extensions.code)).toEqual(["NOT_FOUND", "PRECONDITION_FAILED"]);
});

test("hooks run as they do by name, inside the request's transaction", async () => {
  const create = "mutation ($input: HookedInput!) { createHooked(input: $input) { id title body userId publishedAt } }";
  const publishedAt = "2026-03-04T05:06:07.000Z";
  const { data } = await ask(ann, create, { input: { title: "  padded ", publishedAt } });
  expect(data.createHooked).toMatchObject({ title: "padded", body: "", userId: ann.id });
  expect(new Date(data.createHooked.publishedAt).toISOString()).toBe(publishedAt);
  expect(await db.sql("select title from notes where title like 'about%'")).toEqual([{ title: "about padded" }]);

  const refused = await ask(ann, create, { input: { title: "forbidden" } });
  expect(refused.errors[0]).toMatchObject({ message: "Not this title.", extensions: { code: "FORBIDDEN" } });
  const change = await ask(ann, `mutation { updateHooked(id: "${data.createHooked.id}", patch: {}) { body } }`);
  expect(change.data.updateHooked.body).toBe(`edited ${data.createHooked.id}`);
});

/**
 * Sends two requests, each of which holds a row that the other one needs next.
 *
 * @param middle a field of both, which waits for what the statement `held` locks until both have arrived
 * @returns both answers' errors
 */
async function deadlock(middle: string, held: string): Promise<string[][]> {
  const create = (alias: string) => `${alias}: createNote(input: { title: "${alias} of ${middle.length}" }) { id }`;
  const { data } = await ask(ann, `mutation { ${create("a")} ${create("b")} }`);
  const change = (alias: string) => `${alias}: updateNote(id: ${data[alias].id}, patch: { done: true }) { done }`;
  const holder = await db.connect("admin");
  await holder.query("begin");
  await holder.query(held);
  const answers = [
    ask(ann, `mutation { ${change("a")} ${middle} ${change("b")} }`),
    ask(ann, `mutation { ${change("b")} ${middle} ${change("a")} }`),
  ];
  await expect
    .poll(() => db.sql("select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"))
    .toHaveLength(2);
  await holder.query("commit");
  return (await Promise.all(answers)).map(({ errors }) => errors.map(({ extensions }) => extensions.code));
}

test("of two requests that wait for each other, the one that PostgreSQL ends is carried out again", async () => {
  const { data } = await ask(ann, 'mutation { createNote(input: { title: "both" }) { id } }');
  const { id } = data.createNote;
  const held = `select from notes where id = ${id} for update`;
  expect(await deadlock(`updateNote(id: ${id}, patch: { done: true }) { id }`, held)).toEqual([[], []]);
});

test("but not one in which a hook has run", async () => {
  const { data } = await ask(ann, 'mutation { createHooked(input: { title: "both" }) { id } }');
  const { id } = data.createHooked;
  const held = `select from articles where id = '${id}' for update`;
  const errors = await deadlock(`updateHooked(id: "${id}", patch: {}) { id }`, held);
  expect(errors.map((codes) => codes.includes("CONFLICT")).sort()).toEqual([false, true]);
});

test("every kind of value is taken and given back", async () => {
  const input = {
    anInteger: -5,
    aBigint: "9007199254740993",
    aNumber: 0.5,
    aNumeric: "1234567890.1200",
    aBoolean: true,
    aText: "'; drop table notes; --",
    aUuid: "8f14e45f-ceea-467f-a0e6-0242ac120002",
    aMood: "it_s_complicated",
    aDate: "2026-02-28",
    aJson: { deep: [1, null, { very: true }] },
    someBytes: "AAEC/w==",
    someTags: ["a", 'b"c', "d,e"],
  };
  const fields = Object.keys(input).join(" ");
  const { data, errors } = await ask(
    ann,
    `mutation ($input: SampleInput!) { createSample(input: $input) { id ${fields} anInstant } }`,
    { input: { ...input, anInstant: "2026-01-01T00:00:00Z" } },
  );
  expect(errors).toEqual([]);
  const { id, anInstant, ...row } = data.createSample;
  expect(row).toEqual(input);
  expect(new Date(anInstant).getTime()).toBe(Date.UTC(2026, 0, 1));
  const byName = await app.query(ann, "samples.get", { id });
  expect(byName.body.json).toMatchObject({ ...input, aMood: "it's complicated" });
});

test("columns that the session or the database decides cannot be given", async () => {
  for (const field of ["id: 7", `userId: "${ben.id}"`, 'createdAt: "2020-01-01"', 'updatedAt: "2020-01-01"']) {
    const { status, errors } = await ask(ann, `mutation { createNote(input: { title: "a", ${field} }) { id } }`);
    expect([status, errors[0].message]).toEqual([400, expect.stringMatching(/is not defined by type "NoteInput"/)]);
  }
});

test("what is wrong with a value is told as by name", async () => {
  const answer = await ask(
    ann,
    'mutation { createSample(input: { aUuid: "8f14e45fceea467fa0e60242ac120002" }) { id } }',
  );
  expect(answer.errors[0]?.extensions.code ?? "accepted").toMatch(/accepted|VALIDATION_FAILED/);
  const long = await ask(ann, 'mutation { createSample(input: { aShortText: "longer than five" }) { id } }');
  expect(long.errors[0]).toMatchObject({
    extensions: {
      code: "VALIDATION_FAILED",
      issues: [{ path: ["aShortText"], message: "must be at most 5 characters" }],
      requestId: expect.any(String),
    },
  });
  await db.sql("create unique index secret_constraint on notes (title)");
  await ask(ann, 'mutation { createNote(input: { title: "one" }) { id } }');
  const twice = await ask(ann, 'mutation { createNote(input: { title: "one" }) { id } }');
  expect(twice.errors[0].extensions.code).toBe("CONFLICT");
  expect(JSON.stringify(twice)).not.toMatch(/secret_constraint|duplicate key|svc_crud/);
  await db.sql("drop index secret_constraint");
});

test("a change on a condition that no longer holds is refused", async () => {
  const { data } = await ask(ann, 'mutation { createNote(input: { title: "a" }) { id updatedAt } }');
  const { id } = data.createNote;
  const change = (since: string) =>
    ask(ann, `mutation { updateNote(id: ${id}, patch: { title: "b" }, ifUnmodifiedSince: "${since}") { title } }`);
  expect((await change("2020-01-01T00:00:00Z")).errors[0].extensions.code).toBe("CONFLICT");
  expect((await change("2999-01-01T00:00:00Z")).data.updateNote.title).toBe("b");
});

test("rows of others cannot be changed or removed, and nothing tells that they are there", async () => {
  const { data } = await ask(ann, 'mutation { createNote(input: { title: "mine" }) { id } }');
  const { id } = data.createNote;
  const before = await db.snapshot("notes");
  for (const user of [ben, null]) {
    for (const write of [`updateNote(id: ${id}, patch: { title: "x" }) { id }`, `removeNote(id: ${id})`]) {
      const { errors } = await ask(user, `mutation { ${write} }`);
      expect(errors[0].extensions.code).toBe(user ? "NOT_FOUND" : "UNAUTHORIZED");
    }
  }
  expect(await db.snapshot("notes")).toEqual(before);
});

test("a soft deletion hides the row and keeps it", async () => {
  const { data } = await ask(ann, 'mutation { createFlag(input: { label: "l" }) { id } }');
  const { id } = data.createFlag;
  const answer = await ask(ann, `mutation { removeFlag(id: "${id}") }`);
  expect(answer.data.removeFlag).toBe(id);
  expect((await ask(ann, `{ flag(id: "${id}") { id } }`)).data.flag).toBeNull();
  expect(await db.sql("select gone from flags where id = $1", [id])).toEqual([{ gone: true }]);
});

test("a query writes nothing, and functions of the application are not in the schema", async () => {
  const query = await ask(ann, 'query { createNote(input: { title: "a" }) { id } }');
  expect(query.errors[0].message).toMatch(/Cannot query field "createNote" on type "Query"/);
  const { data } = await ask(null, "{ __schema { mutationType { fields { name } } } }");
  const names = data.__schema.mutationType.fields.map(({ name }: { name: string }) => name);
  expect(names.filter((name: string) => !/^(create|update|remove)[A-Z]\w+$/.test(name))).toEqual([]);
});
