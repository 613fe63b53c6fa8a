// If this file fails, createMany keeps some rows of a refused call, forgets the policies, hooks or checks of create, or does
// not say which row was wrong.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { procedures, refused, shelfSql } from "./shelf.ts";

const db = database();
beforeAll(() => db.sql(shelfSql));
const running = service(db, apiWith({ procedures }));

let ann: User;
beforeAll(async () => {
  ann = await running.signUp("ann");
});
beforeEach(() => db.sql("truncate books, shelves, tickets restart identity"));

const createMany = (user: User | null, rows: unknown, prefix = "books") =>
  running.mutate(user, `${prefix}.createMany`, { rows });
async function done(...args: Parameters<typeof createMany>) {
  const { status, body } = await createMany(...args);
  expect({ args, status, body: status === 200 || body }).toEqual({ args, status: 200, body: true });
  return body.json;
}
const count = async (table = "books") => Number((await db.sql(`select count(*) from ${table}`))[0]?.count);
const book = (slug: string, more: object = {}) => ({ slug, title: `Title of ${slug}`, ...more });

describe("createMany", () => {
  test("inserts rows as create does, and returns them in their order", async () => {
    const { count: made, data } = await done(ann, [book("b", { pages: 3 }), book("a", { note: null, userId: "x" })]);
    const [row] = [(await running.mutate(ann, "books.create", book("c"))).body.json];
    expect(made).toBe(2);
    expect(data).toEqual([
      {
        ...row,
        id: 1,
        ...book("b"),
        pages: 3,
        token: data[0].token,
        createdAt: data[0].createdAt,
        updatedAt: data[0].updatedAt,
      },
      {
        ...row,
        id: 2,
        ...book("a"),
        note: null,
        token: data[1].token,
        createdAt: data[0].createdAt,
        updatedAt: data[0].updatedAt,
      },
    ]);
    expect(new Set([row.token, data[0].token, data[1].token]).size).toBe(3);
    expect(await done(ann, [])).toEqual({ count: 0, data: [] });
  });

  test("inserts them by one statement", async () => {
    await db.sql(`create table statements (rows integer);
      grant insert on public.statements to svc_authenticated;
      create function note_rows() returns trigger language plpgsql as
        $$ begin insert into public.statements select count(*) from added; return null; end $$;
      create trigger note after insert on books referencing new table as added for each statement execute function note_rows()`);
    await done(
      ann,
      Array.from({ length: 1000 }, (_, at) => book(`book ${at}`)),
    );
    expect(await db.sql("select rows from statements")).toEqual([{ rows: 1000 }]);
    await db.sql("drop trigger note on books");
  });

  test("says in a trigger's own words which row it refuses", async () => {
    await db.sql(`create function refuse_book() returns trigger language plpgsql as
        $$ begin raise exception 'Not %.', new.slug using errcode = 'AP403'; end $$;
      create trigger refuse before insert on books for each row when (new.slug = 'bad') execute function refuse_book()`);
    const { status, body } = await createMany(ann, [book("good"), book("bad")]);
    expect([status, body.error, body.issues]).toEqual([403, "Not bad.", [{ path: ["rows", 1], message: "Not bad." }]]);
    await db.sql("drop trigger refuse on books");
  });

  test("takes every kind of column", async () => {
    const row = { name: "a", place: "10.0.0.1", bought: "2026-01-02", price: "1.50", isFull: true };
    const { data } = await done(ann, [row, { name: "b" }], "shelves");
    expect(data).toMatchObject([row, { name: "b", place: null, isFull: false }]);
  });

  test("numbers rows that have no number, and keeps those of others", async () => {
    const { data } = await done(null, [{ title: "a" }, { title: "b", number: 40 }, { title: "c" }], "tickets");
    expect(data.map(({ number }: { number: number }) => number)).toEqual([1, 40, 2]);
  });

  test("runs the hook of create for each row", async () => {
    const { data } = await done(ann, [book("a", { title: " x " }), book("b", { title: " y " })], "hooked");
    expect(data.map(({ title }: { title: string }) => title)).toEqual(["x", "y"]);
    const { status, body } = await createMany(ann, [book("c"), book("d", { title: refused })], "hooked");
    const message = "Nobody may have this title.";
    expect([status, body.error, body.issues]).toEqual([403, message, [{ path: ["rows", 1], message }]]);
    expect(await count()).toBe(2);
  });

  test("runs in a batch, where an error names the call and the row", async () => {
    const call = (rows: object[]) => ({ name: "books.createMany", args: { rows } });
    const send = (calls: object[]) => running.post("/api/batch", { calls }, ann);
    expect(await send([call([book("a")]), call([book("b"), book("a")])])).toMatchObject({
      status: 409,
      body: { index: 1, issues: [{ path: ["rows", 1] }] },
    });
    expect(await count()).toBe(0);
    expect((await send([call([book("a")]), call([book("b")])])).body.results).toHaveLength(2);
  });
});

describe("createMany keeps nothing, and names the row, where", () => {
  test.for([
    ["a policy refuses one", 403, "FORBIDDEN", book("forbidden"), [], "You may not do this."],
    ["a key is taken", 409, "CONFLICT", book("taken"), [], "Something with these values already exists."],
    ["a key comes twice", 409, "CONFLICT", book("first"), [], "Something with these values already exists."],
    [
      "a rule of the table is broken",
      400,
      "BAD_REQUEST",
      book("x", { title: "" }),
      [],
      "A value breaks a rule of its table.",
    ],
    ["a column is missing", 400, "VALIDATION_FAILED", { slug: "x" }, ["title"], "is required"],
    [
      "a value has the wrong type",
      400,
      "VALIDATION_FAILED",
      book("x", { pages: "ten" }),
      ["pages"],
      expect.any(String),
    ],
    ["a row is none", 400, "VALIDATION_FAILED", null, [], "must be an object"],
  ] as const)("%s", async ([, status, code, row, path, message]) => {
    await db.sql("insert into books (user_id, slug, title) values ('x', 'taken', 'x')");
    const answer = await createMany(ann, [book("first"), book("second"), row, book("last")]);
    if (answer.status === 500) throw new Error(running.logged.at(-1));
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.body.issues).toContainEqual({ path: ["rows", 2, ...path], message });
    expect(await count()).toBe(1);
  });

  test("only PostgreSQL can check a value", async () => {
    const { body } = await createMany(ann, [{ name: "a" }, { name: "b", place: "nowhere" }], "shelves");
    expect(body.issues).toEqual([{ path: ["rows", 1, "place"], message: "must be a value of the type inet" }]);
    expect(await count("shelves")).toBe(0);
  });

  test("rows are inserted one by one, for a column numbers them", async () => {
    const { status, body } = await createMany(null, [{ number: 7 }, {}, { number: 7 }], "tickets");
    expect([status, body.issues?.[0].path]).toEqual([409, ["rows", 2]]);
    expect(await count("tickets")).toBe(0);
  });

  test("nobody is signed in", async () => {
    expect(await createMany(null, [book("a")])).toMatchObject({
      status: 401,
      body: { issues: [{ path: ["rows", 0] }] },
    });
  });

  test("there are more than 1,000 rows, or no list of them", async () => {
    const message = "must be an array of at most 1000 rows";
    for (const rows of [Array.from({ length: 1001 }, (_, at) => book(`${at}`)), book("a"), undefined]) {
      const { status, body } = await createMany(ann, rows);
      expect([status, body.issues]).toEqual([400, [{ path: ["rows"], message }]]);
    }
  });
});
