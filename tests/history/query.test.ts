// If this file fails, the history of a row is shown to strangers, shows columns that its reader may not see or values of
// another row, or has another form than the row itself.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { TestService, type User } from "../support/service.ts";
import { api, installAll, schema } from "./application.ts";

const db = database();
const app = new TestService(db, api, {}, schema);
let ann: User;
let bob: User;
beforeAll(async () => {
  await installAll(db);
  await app.start();
  [ann, bob] = await Promise.all([app.signUp("ann"), app.signUp("bob")]);
});
afterAll(() => app.stop());

const created = async (row: object) =>
  (await app.mutate(ann, "invoices.create", { title: "Hail", ...row })).body.json.id;
const update = (id: string, row: object) => app.mutate(ann, "invoices.update", { id, ...row });
const history = (user: User | null, args: object, prefix = "invoices") => app.query(user, `${prefix}.history`, args);
const page = async (...args: Parameters<typeof history>) => {
  const { status, body } = await history(...args);
  expect({ status, body: status === 200 || body }).toEqual({ status: 200, body: true });
  return body.json;
};

test("entries are newest first, page by page, and have the id of who made the change", async () => {
  const id = await created({});
  for (const title of ["a", "b", "c", "d"]) await update(id, { title });
  const first = await page(ann, { id });
  expect(first.data.map(({ changed }: { changed: { title: string[] } }) => changed.title[1])).toEqual(["d", "c", "b"]);
  expect(first.data[0]).toEqual({
    id: expect.stringMatching(/^\d+$/),
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*\+00:00$/),
    actor: ann.id,
    operation: "update",
    changed: { title: ["c", "d"], updatedAt: [expect.any(String), expect.any(String)] },
  });
  const second = await page(ann, { id, cursor: first.nextCursor, limit: 2 });
  expect(second).toMatchObject({ data: [{ operation: "update" }, { operation: "insert" }], nextCursor: null });
  expect((await page(ann, { id, limit: 1_000 })).data).toHaveLength(5);
  expect((await page(ann, { id, limit: -1, cursor: null })).data).toHaveLength(1);
});

test.for([
  [{ id: 7 }, "id"],
  [{ id: crypto.randomUUID(), limit: "many" }, "limit"],
  [{ id: crypto.randomUUID(), cursor: "1 or 1=1" }, "cursor"],
])("%j is refused", async ([args, path]) => {
  const { status, body } = await history(ann, args as object);
  expect([status, body.issues?.[0].path]).toEqual([400, [path]]);
});

test("a stranger, a visitor, and the reader of an unknown or removed row get no history", async () => {
  const id = await created({});
  const strange = await history(bob, { id });
  expect([strange.status, strange.body.error]).toEqual([404, "This row does not exist, or you may not see it."]);
  expect((await history(null, { id })).status).toBe(401);
  expect((await history(ann, { id: crypto.randomUUID() })).status).toBe(404);
  expect((await page(ann, { id })).data).toHaveLength(1);
  await app.mutate(ann, "invoices.remove", { id });
  expect((await history(ann, { id })).status).toBe(404); // removed softly: the row is there, and get hides it
  await db.sql("delete from invoices where id = $1", [id]);
  expect((await history(ann, { id })).status).toBe(404);
});

test("a row that was given to another user shows its whole history to that user alone", async () => {
  const id = await created({});
  await db.sql("update invoices set user_id = $2 where id = $1", [id, bob.id]);
  expect((await history(ann, { id })).status).toBe(404);
  expect((await page(bob, { id })).data.map((entry: { changed: object }) => Object.keys(entry.changed))).toEqual([
    ["userId"],
    expect.arrayContaining(["userId", "title"]),
  ]);
});

test("columns have the names and the forms of get; hidden ones are left out, omitted ones are null", async () => {
  const row = {
    cents: "9007199254740993",
    rate: "1.50",
    share: 0.1,
    dueAt: "2026-01-01T10:00:00.000Z",
    extra: { b: [1] },
  };
  const id = await created({ ...row, iban: "DE02", note: null, scan: "AAEC" });
  await db.sql("update invoices set secret = 's', share = 'NaN' where id = $1", [id]);
  const [changed, inserted] = (await page(ann, { id })).data;
  expect(changed.changed).toEqual({ share: [0.1, "NaN"] });
  const got = (await app.query(ann, "invoices.get", { id })).body.json;
  for (const [name, value] of Object.entries(row)) {
    expect(inserted.changed[name], name).toEqual([null, name === "share" ? value : got[name]]);
  }
  expect(inserted.changed.scan).toEqual([null, got.scan]);
  expect(inserted.changed.createdAt).toEqual([null, got.createdAt]);
  expect(inserted.changed.iban).toBeNull();
  expect(inserted.changed).not.toHaveProperty("note");
  expect(JSON.stringify(inserted)).not.toContain("secret");
});

test("values that do not fit the present type of their column are shown as they were kept", async () => {
  const id = await created({ note: "seven" });
  await db.sql("update invoices set note = '8' where id = $1", [id]);
  await db.sql(
    "alter table invoices alter column note type integer using case when note ~ '^\\d+$' then note::integer end",
  );
  try {
    expect((await page(ann, { id })).data[0].changed.note).toEqual(["seven", "8"]);
  } finally {
    await db.sql("alter table invoices alter column note type text");
  }
});

describe("columns that grants hide", () => {
  test("are left out of svc.row_history(), for the role that may not select them", async () => {
    const id = await created({ note: "for two eyes" });
    await db.sql("revoke select on invoices from svc_authenticated");
    await db.sql("grant select (id, user_id, title, deleted_at) on invoices to svc_authenticated");
    try {
      const client = await db.connect("request");
      const read = async (role: string) => {
        await client.query("begin");
        await client.query(`select set_config('svc.user_id', '${ann.id}', true), set_config('role', '${role}', true)`);
        const { rows } = await client.query("select changed from svc.row_history('public.invoices', $1)", [id]);
        await client.query("rollback");
        return rows.flatMap(({ changed }) => Object.keys(changed).sort());
      };
      expect(await read("svc_authenticated")).toEqual(["id", "title", "user_id"]);
    } finally {
      await db.sql("grant select on invoices to svc_authenticated");
    }
    const system = await db.connect("system");
    const { rows } = await system.query("select changed from svc.row_history('public.invoices', $1)", [id]);
    expect(rows[0].changed).toMatchObject({ note: [null, "for two eyes"] });
  });
});

describe("a key that is used again", () => {
  test("shows what happened since, and not the row before", async () => {
    await db.sql("insert into slugs values ('harbour', 'of ann')");
    await db.sql("delete from slugs where id = 'harbour'");
    await db.sql("insert into slugs values ('harbour', 'of bob')");
    await db.sql("update slugs set owner = 'of cleo' where id = 'harbour'");
    const { data } = await page(null, { id: "harbour" }, "slugs");
    expect(data.map(({ operation }: { operation: string }) => operation)).toEqual(["update", "insert"]);
    expect(JSON.stringify(data)).not.toContain("of ann");
  });

  test("by an update of the key, or after TRUNCATE, begins anew as well", async () => {
    await db.sql("insert into slugs values ('a', 'of ann'), ('b', 'of bob')");
    await db.sql("delete from slugs where id = 'a'");
    await db.sql("update slugs set id = 'a' where id = 'b'");
    expect((await page(null, { id: "a" }, "slugs")).data).toMatchObject([
      { operation: "update", changed: { id: ["b", "a"] } },
    ]);
    await db.sql("truncate slugs");
    await db.sql("insert into slugs values ('a', 'new')");
    expect((await page(null, { id: "a" }, "slugs")).data).toMatchObject([{ operation: "insert" }]);
  });
});

test("a key of several columns is a JSON array, and text of a caller is no SQL", async () => {
  await db.sql("insert into seats values ('A', 7, 'ann')");
  const client = await db.connect("request");
  const read = async (table: string, key: string) => {
    await client.query("begin");
    try {
      await client.query(
        `select set_config('svc.user_id', '${ann.id}', true), set_config('role', 'svc_authenticated', true)`,
      );
      return (await client.query("select changed from svc.row_history($1, $2)", [table, key])).rows;
    } finally {
      await client.query("rollback");
    }
  };
  expect(await read("seats", '["A",7]')).toMatchObject([{ changed: { guest: [null, "ann"] } }]);
  expect(await read("seats", '["A",8]')).toEqual([]);
  await expect(read("seats", "A) or (true")).rejects.toMatchObject({ code: "22P02" });
  await expect(read("auth.user", ann.id)).rejects.toThrow(/permission denied|is not audited/);
});

test("an omitted column is also hidden in entries from before it was omitted", async () => {
  const id = await created({ note: "told" });
  const omit = (columns: string) =>
    db.sql("update svc_private.history_tables set omitted = $1 where name = 'public.invoices'", [columns]);
  await omit("{iban,note}");
  try {
    expect((await page(ann, { id })).data[0].changed.note).toBeNull();
  } finally {
    await omit("{iban}");
  }
});
