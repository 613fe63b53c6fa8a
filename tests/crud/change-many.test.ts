// If this file fails, updateMany or removeMany changes rows that its filters do not name, that its caller may not change or
// see, or more than the caller has said.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { kept, procedures, refused, shelfSql } from "./shelf.ts";

const db = database();
beforeAll(() => db.sql(shelfSql));
const running = service(db, apiWith({ procedures }));

let ann: User;
let bob: User;
beforeAll(async () => {
  ann = await running.signUp("ann");
  bob = await running.signUp("bob");
});
beforeEach(async () => {
  await db.sql("truncate books, shelves, tickets restart identity cascade");
  await db.sql("insert into shelves (user_id, name) values ($1, 'left'), ($2, 'left')", [ann.id, bob.id]);
  // a1 to a4 of ann, b1 and b2 of bob.
  await db.sql(
    `insert into books (user_id, slug, title, pages, shelf_id) values ($1, 'a1', 'x', 10, 1), ($1, 'a2', 'x', 20, null),
       ($1, 'a3', 'y', 30, 2), ($1, 'a4', 'y', null, 1), ($2, 'b1', 'x', 10, 2), ($2, 'b2', 'x', 20, 1)`,
    [ann.id, bob.id],
  );
});

const updateMany = (user: User | null, filters: unknown, set: object, max: unknown = 100, prefix = "books") =>
  running.mutate(user, `${prefix}.updateMany`, { filters, set, max });
const removeMany = (user: User | null, filters: unknown, max: unknown = 100, prefix = "books") =>
  running.mutate(user, `${prefix}.removeMany`, { filters, max });
const stored = async () =>
  (
    await db.sql<{ it: string }>(
      "select concat_ws(' ', slug, title, pages, deleted_at is not null) as it from books order by id",
    )
  ).map(({ it }) => it);
const slugsLeft = async () =>
  (await db.sql<{ slug: string }>("select slug from books order by id")).map(({ slug }) => slug);
const changedBy = async (filters: object) => {
  const { status, body } = await updateMany(ann, filters, { title: "new" });
  if (status === 500) throw new Error(running.logged.at(-1));
  const rows = await db.sql<{ slug: string }>("select slug from books where title = 'new' order by id");
  expect([status, body.json]).toEqual([200, { count: rows.length }]);
  return rows.map(({ slug }) => slug);
};

describe("updateMany", () => {
  test.for([
    ["a value", { title: "x" }, ["a1", "a2"]],
    ["an operator", { pages: { op: "gte", value: 20 } }, ["a2", "a3"]],
    ["groups", { OR: [{ slug: "a1" }, { AND: [{ title: "y" }, { pages: null }] }] }, ["a1", "a4"]],
    ["a related row that the caller sees", { shelves: { name: "left" } }, ["a1", "a4"]],
    ["no condition", {}, ["a1", "a2", "a3", "a4"]],
    ["a value that no row has", { slug: "'; delete from books; --" }, []],
  ] as const)("changes the caller's rows that match %s", async ([, filters, slugs]) => {
    expect(await changedBy(filters)).toEqual(slugs);
    expect((await stored()).slice(4)).toEqual(["b1 x 10 f", "b2 x 20 f"]);
  });

  test("changes the given columns, and updatedAt", async () => {
    const set = { pages: null, note: "n", userId: bob.id, id: 9, deletedAt: "2000-01-01T00:00:00Z" };
    expect((await updateMany(ann, { slug: "a1" }, set)).body.json).toEqual({ count: 1 });
    const [row] = await db.sql("select * from books where slug = 'a1'");
    expect(row).toMatchObject({ id: 1, user_id: ann.id, title: "x", pages: null, note: "n", deleted_at: null });
    expect(Number(row?.updated_at)).toBeGreaterThan(Number(row?.created_at));
  });

  test("changes nothing where a policy or a rule refuses one of the rows", async () => {
    const before = await stored();
    expect(await updateMany(ann, {}, { title: "unwanted" })).toMatchObject({ status: 403 });
    expect(await updateMany(ann, {}, { title: "" })).toMatchObject({ status: 400 });
    expect(await updateMany(ann, {}, { slug: "same" })).toMatchObject({ status: 409 });
    expect(await stored()).toEqual(before);
  });

  test("does not see softly deleted rows", async () => {
    await db.sql("update books set deleted_at = now() where slug = 'a1'");
    expect((await updateMany(ann, {}, { title: "new" }, 100, "kept")).body.json).toEqual({ count: 3 });
    expect((await stored())[0]).toBe("a1 x 10 t");
  });

  test("runs the hook for each row, with its id", async () => {
    const { body } = await updateMany(ann, { title: "x" }, { title: " new " }, 100, "hooked");
    expect(body.json).toEqual({ count: 2 });
    const rows = await db.sql("select slug, title, note from books where title = 'new' order by id");
    expect(rows).toEqual([
      { slug: "a1", title: "new", note: "changed 1" },
      { slug: "a2", title: "new", note: "changed 2" },
    ]);
    expect(await updateMany(ann, {}, { title: refused }, 100, "hooked")).toMatchObject({ status: 403 });
    expect(await updateMany(ann, {}, { title: "z" }, 3, "hooked")).toMatchObject({ status: 400 });
  });
});

describe("removeMany", () => {
  test("removes the caller's rows that match, also all of them", async () => {
    expect((await removeMany(ann, { title: "x" })).body.json).toEqual({ count: 2 });
    expect(await slugsLeft()).toEqual(["a3", "a4", "b1", "b2"]);
    expect((await removeMany(ann, {})).body.json).toEqual({ count: 2 });
    expect(await slugsLeft()).toEqual(["b1", "b2"]);
    expect((await removeMany(null, {})).status).toBe(401);
  });

  test("removes no row that the caller does not see, even without a condition", async () => {
    await db.sql("create policy hide on books as restrictive for select to svc_authenticated using (slug <> 'a1')");
    expect((await removeMany(ann, {})).body.json).toEqual({ count: 3 });
    await db.sql("drop policy hide on books");
    expect(await slugsLeft()).toEqual(["a1", "b1", "b2"]);
  });

  test("marks rows where the resource deletes softly", async () => {
    expect((await removeMany(ann, { slug: { op: "in", value: ["a1", "a2"] } }, 2, "kept")).body.json).toEqual({
      count: 2,
    });
    expect((await stored()).slice(0, 3)).toEqual(["a1 x 10 t", "a2 x 20 t", "a3 y 30 f"]);
  });

  test("runs the hook for each row, and removes none where it refuses one", async () => {
    expect(kept).toBe(3);
    expect((await removeMany(ann, {}, 100, "hooked")).body.error).toBe("This row must stay.");
    expect(await slugsLeft()).toHaveLength(6);
    expect((await removeMany(ann, { title: "x" }, 100, "hooked")).body.json).toEqual({ count: 2 });
    expect(await slugsLeft()).toEqual(["a3", "a4", "b1", "b2"]);
  });
});

describe("both", () => {
  test("change nothing where more rows match than max, and say how many", async () => {
    const before = await stored();
    const issues = [{ path: ["max"], message: "is 3, but at least 4 rows match, so nothing was changed" }];
    for (const prefix of ["books", "kept", "hooked"]) {
      for (const { status, body } of [
        await updateMany(ann, {}, { title: "new" }, 3, prefix),
        await removeMany(ann, {}, 3, prefix),
      ]) {
        expect([status, body.code, body.issues]).toEqual([400, "VALIDATION_FAILED", issues]);
      }
    }
    expect(await stored()).toEqual(before);
  });

  const patterns = Array.from({ length: 21 }, () => ({ title: { op: "like", value: "x" } }));
  const nested = (depth: number): object => (depth === 0 ? { title: "x" } : { AND: [nested(depth - 1)] });
  test.for([
    ["no filters", undefined, ["filters"]],
    ["null", null, ["filters"]],
    ["a list", [], ["filters"]],
    ["a column that may not be filtered", { note: "none" }, ["filters", "note"]],
    ["a name that does not exist", { title: "x", nonsense: 1 }, ["filters", "nonsense"]],
    ["a value of another type", { pages: "ten" }, ["filters", "pages"]],
    ["an unknown operator", { title: { op: "near", value: "x" } }, ["filters", "title"]],
    ["an operator without a value", { title: { op: "eq" } }, ["filters", "title"]],
    ["a bad condition in a group", { OR: [{ title: "x" }, { note: "x" }] }, ["filters", "OR", 1, "note"]],
    ["an empty condition in a group", { OR: [{ title: "x" }, {}] }, ["filters"]],
    ["an empty group", { title: "x", OR: [] }, ["filters", "OR"]],
    ["a bad condition on a related row", { shelves: { code: "x" } }, ["filters", "shelves", "code"]],
    ["an empty condition on a related row", { shelves: {} }, ["filters"]],
    ["too many related rows", { AND: Array(21).fill({ shelves: { name: "left" } }) }, ["filters"]],
    ["too many patterns", { AND: patterns }, ["filters"]],
    ["groups nested too deeply", nested(6), ["filters", "AND", 0, "AND", 0, "AND", 0, "AND", 0, "AND", 0, "AND"]],
    ["a text that PostgreSQL cannot hold", { title: "x\0" }, ["filters"]],
  ] as const)("refuse %s, which a list would ignore", async ([, filters, path]) => {
    const before = await stored();
    for (const { status, body } of [await updateMany(ann, filters, { title: "new" }), await removeMany(ann, filters)]) {
      expect([status, body.code, body.issues?.map((issue: { path: unknown }) => issue.path)]).toEqual([
        400,
        "VALIDATION_FAILED",
        [path],
      ]);
    }
    expect(await stored()).toEqual(before);
  });

  // A client that believes in it would change all rows that the other conditions match.
  test("refuse an argument that they do not take, such as the search of a list", async () => {
    const before = await stored();
    for (const [operation, more] of [
      ["updateMany", { set: { title: "new" } }],
      ["removeMany", {}],
    ] as const) {
      const { status, body } = await running.mutate(ann, `books.${operation}`, {
        filters: {},
        max: 100,
        search: "a1",
        ...more,
      });
      const takes = operation === "updateMany" ? "filters, set, max" : "filters, max";
      const message = `is no argument of this operation, which takes ${takes}`;
      expect([status, body.issues]).toEqual([400, [{ path: ["search"], message }]]);
    }
    expect(await stored()).toEqual(before);
  });

  test("require max, from 1 to 10,000", async () => {
    for (const max of [null, 0, 10_001, 1.5, "10"]) {
      const { status, body } = await removeMany(ann, {}, max);
      expect([status, body.issues]).toEqual([
        400,
        [{ path: ["max"], message: "must be a whole number from 1 to 10000" }],
      ]);
    }
  });

  test("refuse a relation to rows for which a session is needed, also in a batch", async () => {
    const args = { filters: { shelves: { name: "left" } }, max: 10 };
    const refusal = { status: 401, body: { error: expect.stringContaining('"shelves"') } };
    expect(await running.mutate(null, "books.removeMany", args)).toMatchObject(refusal);
    const calls = [{ name: "books.removeMany", args }];
    expect(await running.post("/api/batch", { calls })).toMatchObject(refusal);
  });

  test("name the value that does not fit", async () => {
    const wrong = await updateMany(ann, {}, { title: 1 });
    expect(wrong.body.issues).toMatchObject([{ path: ["set", "title"] }]);
    const misfit = await updateMany(ann, {}, { place: "nowhere" }, 10, "shelves");
    expect(misfit.body.issues).toEqual([{ path: ["set", "place"], message: "must be a value of the type inet" }]);
  });

  test("run in a batch, whose error undoes them", async () => {
    const call = (max: number) => ({ name: "books.removeMany", args: { filters: { title: "x" }, max } });
    const again = { name: "books.removeMany", args: { filters: {}, max: 1 } };
    expect(await running.post("/api/batch", { calls: [call(2), again] }, ann)).toMatchObject({
      status: 400,
      body: { index: 1 },
    });
    expect(await slugsLeft()).toHaveLength(6);
  });
});

// `svc db lint` reported them in every application with `many: true`, whose author cannot change generated code.
test("the linter finds nothing in generated functions", async () => {
  const findings = await db.sql<{ name: string }>("select rule, name from svc_private.lint_schema()");
  expect(findings.filter(({ name }) => name.startsWith("svc_crud."))).toEqual([]);
});
