/** Writing by GraphQL: the generated procedures and nothing else, all of a request or none of it. */
import { expect, test } from "vitest";
import { crud } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { asker } from "./support.ts";

const db = database();
const { hooked, articles, ...others } = crud;
// The first resource of a table counts: here the one with hooks.
const app = service(db, apiWith({ procedures: { hooked, articles, ...others } }));
const ask = asker(app);

test("a row is created, changed and removed, and each write answers with it", async () => {
  const ann = await app.signUp("ann");
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

test("two changes of one row in one request each answer with what they made of it", async () => {
  const ann = await app.signUp("ann");
  const { data } = await ask(ann, 'mutation { createNote(input: { title: "a" }) { id } }');
  const change = (alias: string, title: string) =>
    `${alias}: updateNote(id: ${data.createNote.id}, patch: { title: "${title}" }) { id title }`;
  const answer = await ask(ann, `mutation { ${change("first", "b")} ${change("second", "c")} }`);
  expect([answer.data.first.title, answer.data.second.title]).toEqual(["b", "c"]);
});

test("when one write of a request fails, none of them has happened and none is answered", async () => {
  const ann = await app.signUp("ann");
  const answer = await ask(ann, 'mutation { createNote(input: { title: "gone" }) { id } removeNote(id: 2147483647) }');
  expect(answer.data).toBeNull();
  expect(answer.errors[0]).toMatchObject({ path: ["removeNote"], extensions: { code: "NOT_FOUND" } });
  expect(await db.sql("select id from notes where user_id = $1", [ann.id])).toEqual([]);
});
