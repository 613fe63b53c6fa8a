// If this file fails, upsert makes two rows of one key, changes a row that its caller may not change, or tells what is in
// one that they may not see.
import { boolean, pgTable, serial, text } from "drizzle-orm/pg-core";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, openRls } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { procedures, refused, shelfSql } from "./shelf.ts";

const db = database();
beforeAll(() => db.sql(shelfSql));
const running = service(db, apiWith({ procedures }));
const production = service(db, apiWith({ procedures }), { production: true } as object);

let ann: User;
let bob: User;
beforeAll(async () => {
  ann = await running.signUp("ann");
  bob = await running.signUp("bob");
});
beforeEach(() => db.sql("truncate books, shelves, tickets, readings restart identity"));

const upsert = (user: User | null, row: object, by: unknown = "slug", prefix = "books") =>
  running.mutate(user, `${prefix}.upsert`, { by, row });
async function done(...args: Parameters<typeof upsert>) {
  const { status, body } = await upsert(...args);
  expect({ args, status, body: status === 200 || body }).toEqual({ args, status: 200, body: true });
  return body.json;
}
/** The key of a reading that a device sends, and perhaps sends again. */
const reading = { at: "2026-10-25T00:30:00.123456Z", day: "2026-10-25", depth: "1.50", isFinal: false };
const byReading = ["userId", "at", "day", "depth", "isFinal"];
const stored = (table = "books") => db.sql(`select * from ${table} order by id`);

describe("upsert", () => {
  test("inserts a row as create does, and changes the given columns of the one with its key", async () => {
    const first = await done(ann, { slug: "one", title: "The first", pages: 10 });
    expect(first).toMatchObject({ id: 1, userId: ann.id, note: "none", pages: 10, token: expect.any(String) });
    const second = await done(ann, { slug: "one", title: "Changed" });
    expect(second).toEqual({ ...first, title: "Changed", updatedAt: second.updatedAt });
    expect(second.updatedAt > first.updatedAt).toBe(true);
    expect(await done(ann, { slug: "one", title: "Changed", pages: null })).toMatchObject({ pages: null });
    expect(await stored()).toHaveLength(1);
  });

  test("keeps a null for a column of which the service makes values", async () => {
    expect(await done(ann, { slug: "one", title: "x", token: null })).toMatchObject({ token: null });
    expect(await done(ann, { slug: "two", title: "x" })).toMatchObject({ token: expect.any(String) });
    expect(await done(ann, { slug: "two", title: "x", token: null })).toMatchObject({ token: null });
  });

  test("ignores what callers cannot write, in both cases", async () => {
    const managed = { id: 9, userId: bob.id, createdAt: "2000-01-01T00:00:00Z", updatedAt: "2000-01-01T00:00:00Z" };
    for (let count = 0; count < 2; count++) {
      const row = await done(ann, { slug: "one", title: "x", deletedAt: "2000-01-01T00:00:00Z", ...managed });
      expect(row).toMatchObject({ id: 1, userId: ann.id });
      expect(row.createdAt > "2020").toBe(true);
    }
    expect((await stored())[0]).toMatchObject({ deleted_at: null });
  });

  test("finds rows by times to the microsecond, dates, numbers with a fraction and booleans", async () => {
    const first = await done(ann, { ...reading, value: "12.5" }, byReading, "readings");
    const again = { ...reading, at: "2026-10-25T02:30:00.123456+02:00", depth: 1.5, value: "13" };
    expect(await done(ann, again, byReading, "readings")).toEqual({ ...first, value: "13" });
    for (const other of [{ at: "2026-10-25T00:30:00.123457Z" }, { depth: "1.51" }, { isFinal: true }]) {
      await done(ann, { ...reading, ...other, value: "other" }, byReading, "readings");
    }
    await done(bob, { ...reading, value: "his" }, byReading, "readings");
    expect((await stored("readings")).map(({ value }) => value)).toEqual(["13", "other", "other", "other", "his"]);
  });

  test("finds rows by a constraint of several columns, of which the session may give one", async () => {
    const by = ["name", "userId"];
    const ours = await done(ann, { name: "left", price: "1.50" }, by, "shelves");
    const theirs = await done(bob, { name: "left", price: 2 }, by, "shelves");
    expect(await done(ann, { name: "left", isFull: true }, by, "shelves")).toEqual({ ...ours, isFull: true });
    expect(await done(ann, { name: "right", code: "a" }, "code", "shelves")).toMatchObject({ name: "right" });
    expect(await done(ann, { name: "upper", code: "a" }, "code", "shelves")).toMatchObject({
      name: "upper",
      code: "a",
    });
    expect((await stored("shelves")).map(({ id, name }) => [id, name])).toEqual([
      [ours.id, "left"],
      [theirs.id, "left"],
      [expect.anything(), "upper"],
    ]);
  });

  test("finds rows by a column that numbers them", async () => {
    await done(null, { number: 5, title: "five" }, "number", "tickets");
    expect(await done(null, { number: 5, title: "again" }, "number", "tickets")).toMatchObject({
      id: 1,
      title: "again",
    });
  });

  test("of 20 callers at once makes one row", async () => {
    const rows = await Promise.all(
      Array.from({ length: 20 }, (_, at) => done(ann, { slug: "same", title: `title ${at}` })),
    );
    expect(new Set(rows.map(({ id }) => id)).size).toBe(1);
    expect(await stored()).toHaveLength(1);
  });

  test("runs its hook on what is inserted and on what is changed", async () => {
    expect(await done(ann, { slug: "one", title: " x " }, "slug", "hooked")).toMatchObject({ title: "x" });
    expect(await done(ann, { slug: "one", title: " y " }, "slug", "hooked")).toMatchObject({ id: 1, title: "y" });
    const { status, body } = await upsert(ann, { slug: "one", title: refused }, "slug", "hooked");
    expect([status, body.error]).toEqual([403, "Nobody may have this title."]);
    expect(await upsert(ann, { slug: "one" }, "slug", "hooked")).toMatchObject({ status: 400 });
  });

  test("runs in a batch, each call after the other", async () => {
    const calls = [1, 2].map((pages) => ({
      name: "books.upsert",
      args: { by: "slug", row: { slug: "b", title: "b", pages } },
    }));
    const { body } = await running.post("/api/batch", { calls }, ann);
    expect(body.results.map(({ json }: { json: { pages: number } }) => json.pages)).toEqual([1, 2]);
  });
});

describe("upsert is refused", () => {
  test("by the policy for inserts, whether or not there is such a row", async () => {
    const before = await upsert(ann, { slug: "forbidden", title: "x" });
    await db.sql("insert into books (user_id, slug, title) values ($1, 'forbidden', 'x')", [ann.id]);
    const after = await upsert(ann, { slug: "forbidden", title: "x" });
    expect([before.status, before.body.code]).toEqual([403, "FORBIDDEN"]);
    expect([after.status, after.body.code]).toEqual([403, "FORBIDDEN"]);
  });

  test("by the policies for updates, of the old row and of the new one", async () => {
    await done(bob, { slug: "theirs", title: "x" });
    expect(await upsert(ann, { slug: "theirs", title: "mine" })).toMatchObject({ status: 403 });
    await done(ann, { slug: "mine", title: "unwanted" });
    expect(await upsert(ann, { slug: "mine", title: "unwanted" })).toMatchObject({ status: 403 });
    expect(await upsert(null, { slug: "mine", title: "x" })).toMatchObject({ status: 401 });
    expect((await stored()).map(({ title }) => title)).toEqual(["x", "unwanted"]);
  });

  test("with the same answer for every hidden row, deleted or not, whatever is in it", async () => {
    await db.sql(
      "insert into shelves (user_id, name, code, gone) values ($1, 'a', 'shown', false), ($1, 'b', 'gone', true)",
      [bob.id],
    );
    const cid = await production.signUp("cid");
    const attempt = async (code: string) => {
      const call = { by: "code", row: { name: "x", code } };
      const { status, body } = await production.mutate(cid, "shelves.upsert", call);
      return { status, body: { ...body, requestId: "" } };
    };
    const answers = [await attempt("shown"), await attempt("gone")];
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    expect(JSON.stringify(answers)).not.toContain(bob.id);
  });

  test("where a row that was removed has the key, as create is", async () => {
    await db.sql("insert into books (user_id, slug, title, deleted_at) values ($1, 'gone', 'old', now())", [ann.id]);
    const made = await running.mutate(ann, "kept.create", { slug: "gone", title: "new" });
    const changed = await upsert(ann, { slug: "gone", title: "new" }, "slug", "kept");
    expect([changed.status, changed.body.code]).toEqual([made.status, made.body.code]);
    expect([changed.status, changed.body.code]).toEqual([409, "CONFLICT"]);
    expect((await stored())[0]).toMatchObject({ title: "old" });
  });

  test("where another constraint is violated, as create is", async () => {
    await done(ann, { name: "a", code: "one" }, "code", "shelves");
    await done(ann, { name: "b", code: "two" }, "code", "shelves");
    expect(await upsert(ann, { name: "a", code: "two" }, "code", "shelves")).toMatchObject({ status: 409 });
  });

  test.for([
    ["an unknown key", { by: "title", row: { slug: "a", title: "b" } }, [["by"], 'must be "slug"']],
    ["no key", { row: { slug: "a", title: "b" } }, [["by"], 'must be "slug"']],
    ["no row", { by: "slug" }, [["row"], "must be an object"]],
    ["no value of the key", { by: "slug", row: { title: "b" } }, [["row", "slug"], "is required"]],
    ["null for the key", { by: "slug", row: { slug: null, title: "b" } }, [["row", "slug"], "must not be null"]],
    ["a column that an insert needs", { by: "slug", row: { slug: "a" } }, [["row", "title"], "is required"]],
    ["a wrong type", { by: "slug", row: { slug: "a", title: 1 } }, [["row", "title"], expect.stringMatching("string")]],
  ] as const)("with %s, at its path", async ([, args, [path, message]]) => {
    const { status, body } = await running.mutate(ann, "books.upsert", args);
    expect([status, body.code]).toEqual([400, "VALIDATION_FAILED"]);
    expect(body.issues).toContainEqual({ path, message });
  });

  test("with a key that may be null, and a value that only PostgreSQL can check", async () => {
    const without = await upsert(ann, { name: "a" }, "code", "shelves");
    expect(without.body.issues).toEqual([{ path: ["row", "code"], message: "is required: the row is found by it" }]);
    const misfit = await upsert(ann, { name: "a", code: "c", place: "nowhere" }, "code", "shelves");
    expect(misfit.body.issues).toEqual([{ path: ["row", "place"], message: "must be a value of the type inet" }]);
  });
});

// PostgreSQL took the key's column for the variable of that name, and found no constraint.
test.for(["by", "changes", "data", "input", "is_shown", "local", "result"])("a key may be named %s", async (name) => {
  const named = pgTable(
    `with_${name}`,
    { id: serial("id").primaryKey(), [name]: text(name).unique(), note: text("note"), gone: boolean("gone") },
    () => openRls({ read: "anyone", write: "anyone" }),
  );
  const crud = createCrudFactory(createSvcProcedureBuilders())(named, {
    upsertBy: [name],
    softDelete: { field: "gone" },
  });
  await db.sql(`create table with_${name} (id serial primary key, "${name}" text unique, note text, gone boolean);
    ${defineApi({ procedures: { crud } })["~svc"].crud.map(crudFile).join("\n")}`);
  const rows = [{ note: "first" }, { note: "second" }].map((row) => ({ [name]: "a", ...row }));
  for (const row of rows) {
    const values = [name, row, JSON.stringify(Object.keys(row))];
    const [answer] = await db.sql(`select svc_crud.with_${name}_upsert($1, $2, $3) as row`, values);
    expect(answer?.row).toEqual({ id: 1, gone: null, ...row });
  }
});
