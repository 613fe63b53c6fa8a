/** What people rely on. Each file gets a database of its own and the whole service on it: `npm test`. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createTestApp } from "@svc/testing";
import { api } from "../web/svc/api.ts";

const app = await createTestApp({ api });
after(() => app.close());

test("notes are their owner's alone", async () => {
  const [ann, bob] = await Promise.all([app.asUser(), app.asUser()]);
  await ann.mutate(api.notes.create, { text: "milk" });

  assert.equal((await ann.query(api.notes.list)).total, 1);
  assert.equal((await bob.query(api.notes.list)).total, 0);
  await assert.rejects(app.anonymous().query(api.notes.list), { code: "UNAUTHORIZED" });
});

test("notes that were done a month ago go away at night", async () => {
  const cleo = await app.asUser({ name: "Cleo" });
  const { id } = await cleo.mutate(api.notes.create, { text: "old", done: true });
  await cleo.mutate(api.notes.create, { text: "new", done: true });
  await app.sql("update notes set updated_at = now() - interval '31 days' where id = $1", [id]);

  await app.enqueueCron("notes.nightly");
  await app.flushJobs();

  const { data } = await cleo.query(api.notes.list);
  assert.deepEqual(
    data.map(({ text }) => text),
    ["new"],
  );
});
