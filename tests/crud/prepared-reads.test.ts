// If this file fails, a list or get that a prepared statement answers differs from the same one of svc.find_rows() or
// svc.find_row(), or fails after a migration.
import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { getShape, listShape } from "../../src/crud/read-shape.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { blogSql, procedures } from "./blog.ts";

const db = database();
beforeAll(() => db.sql(blogSql));
const api = apiWith({ procedures });
const svc = service(db, api);
let ann: User;
let bob: User;
let caller: pg.Client | undefined;

beforeAll(async () => {
  ann = await svc.signUp("ann");
  bob = await svc.signUp("bob");
  await db.sql(
    `insert into articles (user_id, title, body, mood, priority, price, published, published_at, day, deleted_at, created_at)
     select case when n % 3 = 0 then $1 else $2 end, 'title ' || n, repeat('x', n), case when n % 4 = 0 then 'calm'::mood end,
            nullif(n % 5, 0), n * 1.25, n % 2 = 0, '2026-01-01Z'::timestamptz + n * interval '1 h', '2026-01-01'::date + n,
            case when n % 10 = 0 then now() end, '2026-01-01Z'::timestamptz + n * interval '1 s'
       from generate_series(1, 60) as n`,
    [ann.id, bob.id],
  );
  await db.sql(
    `insert into notes (user_id, title) select case when n % 3 = 0 then $1 else $2 end, 'note ' || n from generate_series(1, 30) as n`,
    [ann.id, bob.id],
  );
  await db.sql(`
    insert into authors (handle) values ('ann'), ('bob');
    insert into blog_posts (slug, title, author_id) select 'p' || n, 'Post ' || n, 1 + n % 2 from generate_series(1, 9) as n`);
});

/** What svc.find_rows() gives the user for the same arguments. */
function found(user: User | null, name: string, args: Record<string, unknown>) {
  const { limit = 20, page = 1 } = args;
  const call = `svc.find_rows(svc_crud.${name}_resource() || jsonb_build_object('args', $1::jsonb, 'pageSize', $2::int, 'page', $3::int))`;
  return asked(user, call, [JSON.stringify(args), limit, page]);
}

/** What a function gives the user. */
async function asked(user: User | null, call: string, values: unknown[]) {
  caller ??= await db.connect("admin");
  await caller.query(
    `begin; set local timezone = 'UTC'; set local svc.user_id = '${user?.id ?? ""}'; set local role ${user ? "svc_authenticated" : "svc_anonymous"}`,
  );
  try {
    const { rows } = await caller.query(`select ${call} as answer`, values);
    return rows[0].answer;
  } finally {
    await caller.query("rollback");
  }
}

const cursorOf = (...place: unknown[]) => Buffer.from(JSON.stringify(place)).toString("base64url");

const crudOf = (prefix: string) => {
  const crud = api["~svc"].crud.find((one) => one.prefix === prefix);
  if (!crud) throw new Error(prefix);
  return crud;
};

describe("a list with", () => {
  const cases: [string, Record<string, unknown>][] = [
    ["articles", { filters: { published: true } }],
    ["articles", { filters: { mood: null } }],
    ["articles", { filters: { mood: { op: "ne", value: "calm" }, priority: { op: "nin", value: [1, 2] } } }],
    [
      "articles",
      { filters: { priority: { op: "gte", value: 3 }, price: { op: "lt", value: "50.5" } }, orderBy: "price" },
    ],
    [
      "articles",
      { filters: { OR: [{ priority: 1 }, { AND: [{ published: false }, { title: { op: "like", value: "%1%" } }] }] } },
    ],
    [
      "articles",
      {
        filters: { publishedAt: { op: "gt", value: "2026-01-02T00:00:00Z" }, day: { op: "lte", value: "2026-02-20" } },
      },
    ],
    ["articles", { filters: { title: { op: "in", value: ["title 1", 'a "quoted" \\ one', "title 2"] } } }],
    ["articles", { filters: { title: "title 61" } }],
    ["articles", { search: "title 1", limit: 5 }],
    ["articles", { search: "title 1", filters: { published: true }, page: 2, limit: 3 }],
    ["articles", { search: "100%_\\" }],
    ["articles", { orderBy: "priority", orderDir: "asc" }],
    ["articles", { orderBy: "priority", orderDir: "desc", page: 3, limit: 7 }],
    ["articles", { orderBy: "mood", orderDir: "asc", limit: 54 }],
    ["articles", { page: 99 }],
    ["notes", { orderBy: "title" }],
    ["notes", { orderBy: "title", orderDir: "asc", page: 2, limit: 5 }],
    ["blog_posts", { include: { author: true }, orderBy: "id" }],
    ["blog_posts", { include: { author: true, _count: { tags: true } }, limit: 3 }],
    ["blog_posts", { select: ["slug"], limit: 100 }],
    [
      "blog_posts",
      { include: { author: { select: ["handle"] }, tags: { limit: 1 } }, select: ["slug"], page: 2, limit: 4 },
    ],
  ];
  test.for(cases)("%s %j is what svc.find_rows() answers", async ([name, args]) => {
    const shape = listShape(crudOf(name), args);
    const [written] = await db.sql<{ text: string | null }>(
      `select svc.list_statement(svc_crud.${name}_resource() || $1::jsonb) as text`,
      [JSON.stringify({ shape: shape?.shape })],
    );
    expect(written?.text).toContain("json_build_object");
    for (const user of name === "notes" ? [ann, bob] : [ann, bob, null]) {
      for (let again = 0; again < 2; again++) {
        const { status, body } = await svc.query(user, `${name}.list`, args);
        const list = await found(user, name, args);
        expect({ status, list: body.json }).toEqual({ status: 200, list });
        const watched = await svc.post("/api/query", { name: `${name}.list`, args, watch: true }, user);
        expect(watched).toMatchObject({ status: 200, body: { json: list } });
      }
    }
  });

  test.for<Record<string, unknown>>([
    {},
    { limit: 5, page: 1 },
    { cursor: "x" },
    { cursor: cursorOf("list", "2026-01-01", "2f8fb47c-d30e-4d98-bdb0-a1e0c9f121e6") },
    { cursor: cursorOf("list", "infinity", "2f8fb47c-d30e-4d98-bdb0-a1e0c9f121e6") },
    { cursor: cursorOf("list", "2026-01-01 00:00:00+00", "1") },
    { cursor: `${cursorOf("list", null, "2f8fb47c-d30e-4d98-bdb0-a1e0c9f121e6")}=` },
    { cursor: null, filters: { nope: 1 } },
    { filters: { nope: 1 } },
    { filters: { priority: 1.5 } },
    { filters: { priority: { op: "like", value: "1" } } },
    { filters: { publishedAt: "2026-02-30T00:00:00Z" } },
    { filters: { publishedAt: "today" } },
    { filters: { OR: [] } },
    { filters: { title: { op: "like", value: "\\" } } },
    { include: { author: { filters: { handle: "ann" } } } },
  ])("%j has no shape", (args) => {
    expect(listShape(crudOf("articles"), args)).toBeUndefined();
  });
});

// Prepared statements did not count patterns: up to 30 of them, of 6,000 characters together, were compared with every row.
test.for([
  { length: 21, value: "%no such title%" },
  { length: 11, value: "no".repeat(100) },
])("$length patterns like $value are too many, and the list is refused", async ({ length, value }) => {
  const filters = { AND: Array(length).fill({ title: { op: "like", value } }) };
  for (const args of [
    { filters },
    { filters, search: "title" },
    { filters, cursor: null },
    { filters, page: 2, limit: 5 },
  ]) {
    const { status, body } = await svc.query(ann, "articles.list", args);
    expect({ status, issues: body.issues }).toMatchObject({ status: 400, issues: [{ path: ["filters"] }] });
  }
  const { body } = await svc.query(ann, "articles.list", { filters: { AND: filters.AND.slice(1) } });
  expect(body.json.total).toBe(0);
});

describe("a walk by cursor", () => {
  const cases: [string, Record<string, unknown>][] = [
    ["articles", { limit: 20 }],
    ["articles", { filters: { published: true }, limit: 7 }],
    ["articles", { search: "title 1", limit: 3 }],
    ["articles", { search: "title 1", filters: { priority: { op: "gte", value: 1 } }, orderDir: "asc", limit: 2 }],
    ["articles", { orderBy: "priority", orderDir: "asc", limit: 9 }],
    ["articles", { orderBy: "priority", orderDir: "desc", limit: 9 }],
    ["articles", { orderBy: "mood", limit: 14 }],
    ["articles", { orderBy: "price", select: ["title"], limit: 25 }],
    ["articles", { orderBy: "publishedAt", orderDir: "asc", filters: { mood: null }, limit: 8 }],
    ["articles", { orderBy: "day", limit: 27 }],
    ["articles", { orderBy: "no such column", limit: 50 }],
    ["notes", { orderBy: "id", limit: 4 }],
    ["notes", { orderBy: "title", orderDir: "asc", limit: 6 }],
    ["blog_posts", { include: { author: true, _count: { tags: true } }, orderBy: "slug", limit: 4, page: 3 }],
  ];
  test.for(cases)("%s %j is that of svc.find_rows()", async ([name, args]) => {
    for (const user of name === "notes" ? [ann, bob] : [ann, bob, null]) {
      let pages = 0;
      for (let cursor: string | null = null; pages === 0 || cursor; pages++) {
        const asked = { ...args, cursor };
        const shape = listShape(crudOf(name), asked)?.shape;
        expect(shape).toMatchObject({ cursor: cursor === null ? {} : { id: expect.any(Number) } });
        const { status, body } = await svc.query(user, `${name}.list`, asked);
        const list = await found(user, name, asked);
        expect({ status, list: body.json }).toEqual({ status: 200, list });
        const watched = await svc.post("/api/query", { name: `${name}.list`, args: asked, watch: true }, user);
        expect(watched).toMatchObject({ status: 200, body: { json: list } });
        cursor = list.nextCursor;
      }
      expect(pages).toBeGreaterThan(1);
    }
  });

  test("that began in another list is refused as by svc.find_rows()", async () => {
    const { body } = await svc.query(ann, "notes.list", { cursor: null, limit: 1 });
    const refused = async (user: User, args: Record<string, unknown>) => {
      const answer = await svc.query(user, "notes.list", args);
      expect(answer.status).toBe(400);
      const { requestId: _, ...rest } = answer.body;
      return rest;
    };
    const usual = { cursor: body.json.nextCursor, orderDir: "asc" };
    expect(listShape(crudOf("notes"), usual)).toBeDefined();
    const answer = await refused(ann, usual);
    expect(answer).toMatchObject({ code: "BAD_REQUEST", hint: expect.stringContaining("nextCursor") });
    expect(await refused(bob, { cursor: body.json.nextCursor })).toEqual(answer);
    expect(await refused(ann, { cursor: "x" })).toEqual(answer);
    await expect(found(ann, "notes", usual)).rejects.toMatchObject({ code: "SV400" });
  });
});

describe("a get with", () => {
  const cases: [string, Record<string, unknown>][] = [
    ["blog_posts", { id: 1, include: { author: true } }],
    ["blog_posts", { id: 2, select: ["slug"], include: { tags: { limit: 1 }, _count: { tags: true } } }],
    ["blog_posts", { slug: "p3" }],
    ["blog_posts", { slug: "p4", include: { author: { select: ["handle"] } } }],
    ["blog_posts", { slug: "none", select: ["id"] }],
    ["notes", { id: 3, select: ["title", "createdAt"] }],
    ["notes", { id: 1, select: ["title"] }],
    ["articles", { id: "2f8fb47c-d30e-4d98-bdb0-a1e0c9f121e6", select: ["title"] }],
  ];
  test.for(cases)("%s %j is what svc.find_row() answers", async ([name, { id, slug, ...args }]) => {
    const by = id === undefined ? { slug } : { id };
    expect(getShape(crudOf(name), null, { ...args, by })?.values).toHaveLength(1);
    for (const user of name === "notes" ? [ann, bob] : [ann, bob, null]) {
      const call = `svc.find_row(svc_crud.${name}_resource(), $1)`;
      const row = await asked(user, call, [JSON.stringify({ ...args, by })]);
      for (let again = 0; again < 2; again++) {
        const { status, body } = await svc.query(user, `${name}.get`, { ...by, ...args });
        expect({ status, row: body.json }).toEqual({ status: 200, row });
        const watched = await svc.post(
          "/api/query",
          { name: `${name}.get`, args: { ...by, ...args }, watch: true },
          user,
        );
        expect(watched).toMatchObject({ status: 200, body: { json: row, snapshot: expect.any(String) } });
      }
    }
  });

  test.for<Record<string, unknown>>([
    { by: { id: "many" } },
    { by: { id: 2 ** 31 } },
    { by: {} },
    { by: { id: 1 }, include: { author: { filters: { handle: "ann" } } } },
  ])("%j has no shape", (args) => {
    expect(getShape(crudOf("notes"), null, args)).toBeUndefined();
  });
});

test("shapes are of forms, not of values", () => {
  const keyOf = (args: object) => listShape(crudOf("articles"), args as Record<string, unknown>)?.key;
  const one = { filters: { title: "a", priority: { op: "in", value: [1] } }, search: "x", limit: 3, page: 2 };
  const two = { filters: { title: "b", priority: { op: "in", value: [2, 3] } }, search: "y", limit: 9, page: 7 };
  expect(keyOf(one)).toBe(keyOf(two));
  expect(keyOf({ filters: { priority: 1 } })).not.toBe(keyOf({ filters: { priority: { op: "gt", value: 1 } } }));
  expect(keyOf({ orderBy: "no such column", search: "x" })).toBe(keyOf({ search: "x" }));
});

test("after a migration the statement is written again", async () => {
  const args = { filters: { title: "title 1" }, limit: 1 };
  const titles = async () => (await svc.query(ann, "articles.list", args)).body.json?.data?.length;
  expect(await titles()).toBe(1);
  const [before] = await db.sql<{ text: string }>(
    "select pg_get_functiondef('svc_crud.articles_resource()'::regprocedure) as text",
  );
  await db.sql("alter table articles rename column title to headline");
  await db.sql(
    (before?.text ?? "").replaceAll("t.title", "t.headline").replaceAll('"name":"title"', '"name":"headline"'),
  );
  for (let again = 0; again < 3; again++) expect(await titles()).toBe(1);
});

test("a connection that is lost is replaced, and the list answered", async () => {
  const args = { filters: { published: false }, limit: 1 };
  expect((await svc.query(ann, "articles.list", args)).status).toBe(200);
  await db.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'svc request' and datname = current_database()",
  );
  expect((await svc.query(ann, "articles.list", args)).status).toBe(200);
});

test("a statement that cannot be written keeps no connection", async () => {
  const args = { filters: { published: true }, orderBy: "price", orderDir: "asc", limit: 7 };
  await db.sql("alter function svc_crud.articles_resource() rename to away");
  for (let n = 0; n < 12; n++) expect((await svc.query(ann, "articles.list", args)).status).toBeGreaterThanOrEqual(500);
  await db.sql("alter function svc_crud.away() rename to articles_resource");
  expect(await svc.query(ann, "articles.list", args)).toMatchObject({ status: 200 });
});
