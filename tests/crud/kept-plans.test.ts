// If this file fails, a filtered list reads a whole table because its plan was made for another value, or requests learn
// which values other users' rows have.
import { beforeAll, describe, expect, test } from "vitest";
import { areUsual, isPlanKept, keepPlans } from "../../src/crud/kept-plans.ts";
import { enterKept, enterPlanning } from "../../src/crud/prepared-read.ts";
import { listShape } from "../../src/crud/read-shape.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { blogSql, procedures } from "./blog.ts";

const db = database();
beforeAll(() => db.sql(blogSql));
const api = apiWith({ procedures });
const svc = service(db, api);
const [articles] = api["~svc"].crud.filter(({ prefix }) => prefix === "articles");
if (!articles) throw new Error("There is no such resource.");

describe("a list of a column with one value in 99.9 % of the rows", () => {
  const rare = { filters: { title: "rare" } };
  const often = { filters: { title: "often" } };
  const factorsOf = async (...columns: string[]) => {
    const client = await db.connect("system");
    const { rows } = await client.query("select svc.value_factors('articles', $1) as factors", [columns]);
    await client.end();
    return rows[0].factors;
  };
  const shapeOf = (args: Record<string, unknown>) => {
    const shape = listShape(articles, args);
    if (!shape?.compared) throw new Error("Its plan is never kept.");
    return { ...shape, compared: shape.compared };
  };
  /** Rows and entries of indexes that the list reads, in the plan that the service would choose. */
  const readBy = async (args: Record<string, unknown>, factors: Awaited<ReturnType<typeof factorsOf>>) => {
    const { shape, values, compared } = shapeOf(args);
    const [statement] = await db.sql<{ text: string }>(
      "select svc.list_statement(svc_crud.articles_resource() || $1::jsonb) as text",
      [JSON.stringify({ count: "none", shape })],
    );
    const client = await db.connect("admin");
    const read = async () => {
      const text =
        "select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_all_tables where relid = 'articles'::regclass";
      return (await client.query(text)).rows[0].read;
    };
    const mode = areUsual(factors, compared.values) ? "force_generic_plan" : "force_custom_plan";
    await client.query(`begin; set local plan_cache_mode = ${mode}`);
    const before = await read();
    const { rows } = await client.query({ name: "list", text: statement?.text ?? "", values });
    const after = await read();
    await client.end();
    expect(JSON.parse(rows[0].result).data).toHaveLength(20);
    return { mode, rows: after - before };
  };

  beforeAll(async () => {
    const ann = await svc.signUp("ann");
    await db.sql(`
      truncate articles;
      insert into articles (user_id, title, priority, created_at)
        select '${ann.id}', case when n % 1000 = 7 then 'rare' else 'often' end, n % 10, now() - n * interval '1 s'
          from generate_series(1, 20000) as n;
      create index on articles (title);
      create index on articles (created_at desc, id desc) where deleted_at is null`);
  });

  test("is planned for each value as long as there are no statistics", async () => {
    await db.sql("delete from pg_statistic where starelid = 'articles'::regclass");
    const factors = await factorsOf("title", "priority");
    expect(factors).toEqual({});
    for (const args of [rare, often, { filters: { priority: 3 } }]) {
      expect(areUsual(factors, shapeOf(args).compared.values)).toBe(false);
    }
    await db.sql("analyze articles");
  });

  test("does not read the table for a rare value, and keeps its plan for the usual one", async () => {
    const factors = await factorsOf("title", "priority", "published", "id");
    for (let again = 0; again < 3; again++) {
      const usual = await readBy(often, factors);
      expect(usual.rows).toBeLessThan(200);
      const unusual = await readBy(rare, factors);
      expect(unusual).toMatchObject({ mode: "force_custom_plan", rows: expect.any(Number) });
      expect(unusual.rows).toBeLessThan(200);
    }
    // A plan for all values would read many more: otherwise the two above show nothing.
    const { rows } = await readBy(rare, { title: { others: 1, listed: {} } });
    expect(rows).toBeGreaterThan(5_000);
  });

  test("its factors are those of the statistics", async () => {
    const { title, priority, id } = await factorsOf("title", "priority", "id", "no such column");
    expect(title.listed.often).toBeCloseTo(2, 1);
    expect(title.listed.rare).toBeGreaterThan(100);
    expect(Object.keys(priority.listed)).toHaveLength(10);
    expect(Math.max(...Object.values<number>(priority.listed))).toBeLessThan(1.5);
    expect(id).toEqual({ others: 1, listed: {} });
    const values = (column: string, value: string) => [{ column, value }];
    const factors = { title, priority, id };
    expect(areUsual(factors, values("priority", "3"))).toBe(true);
    expect(areUsual(factors, values("priority", "77"))).toBe(false);
    expect(areUsual(factors, values("title", "no such title"))).toBe(false);
    expect(areUsual(factors, values("constructor", "3"))).toBe(false);
    expect(areUsual(factors, values("id", "2f8fb47c-d30e-4d98-bdb0-a1e0c9f121e6"))).toBe(true);
    expect(areUsual(factors, [...values("title", "often"), ...values("priority", "3")])).toBe(true);
  });

  test("is planned for each value if only then an index can be used", async () => {
    expect(await factorsOf("priority")).toHaveProperty("priority");
    await db.sql("create index partial on articles (created_at) where priority = 3");
    expect(await factorsOf("priority", "title")).toEqual({ title: expect.anything() });
    await db.sql("drop index partial; create statistics together on priority, title from articles");
    expect(await factorsOf("priority", "title")).toEqual({});
    await db.sql("drop statistics together");
  });

  test("its statistics are not for requests", async () => {
    for (const role of ["svc_anonymous", "svc_authenticated", "svc_request"]) {
      const [may] = await db.sql<{ may: boolean }>(
        "select has_function_privilege($1, 'svc.value_factors(regclass, text[])', 'execute') as may",
        [role],
      );
      expect(may).toEqual({ may: false });
    }
  });

  test("a pool keeps plans by statistics of its own database, once they are read", async () => {
    const [request, system] = [db.pool("request"), db.pool("system")];
    expect(isPlanKept(request, shapeOf(often))).toBe(false);
    keepPlans(request, system);
    expect(isPlanKept(request, shapeOf(often))).toBe(false);
    await expect.poll(() => isPlanKept(request, shapeOf(often))).toBe(true);
    expect(isPlanKept(request, shapeOf(rare))).toBe(false);
    expect(isPlanKept(request, { compared: { crud: articles, values: [] } })).toBe(true);
  });
});

test("a page with relations finds their rows by indexes, also where a table is so small that reading it is cheap once", async () => {
  await db.sql(`
    truncate authors, tags, blog_posts, post_tags restart identity cascade;
    insert into authors (handle) select 'author ' || n from generate_series(1, 200) as n;
    insert into tags (name) select 'tag ' || n from generate_series(1, 50) as n;
    insert into blog_posts (slug, title, author_id) select n, 'post', 1 + n % 200 from generate_series(1, 1000) as n;
    insert into post_tags select p, 1 + (p * 7 + t * 13) % 50 from generate_series(1, 1000) as p, generate_series(1, 3) as t`);
  // While an older transaction of any kind is open, vacuum cannot say that all see a page, and indexes cost more.
  const visible = async () => {
    await db.sql("vacuum analyze authors, tags, blog_posts, post_tags");
    const [least] = await db.sql<{ pages: number }>(
      "select min(relallvisible) as pages from pg_class where relname in ('authors', 'tags', 'blog_posts', 'post_tags')",
    );
    return least?.pages;
  };
  await expect.poll(visible).toBeGreaterThan(0);
  const posts = api["~svc"].crud.find(({ prefix }) => prefix === "blog_posts");
  const shape = posts && listShape(posts, { include: { author: {}, tags: {} } });
  const [statement] = await db.sql<{ text: string }>(
    "select svc.list_statement(svc_crud.blog_posts_resource() || $1::jsonb) as text",
    [JSON.stringify({ shape: shape?.shape })],
  );
  for (const enter of [enterKept, enterPlanning]) {
    const client = await db.connect("admin");
    await client.query("begin");
    await client.query({ ...enter, values: ["ann", "svc_authenticated"] });
    const { rows } = await client.query({ name: "list", text: statement?.text ?? "", values: shape?.values });
    expect(JSON.parse(rows[0].result).data[0].tags).toHaveLength(3);
    const read = await client.query(
      "select relname, seq_scan::int from pg_stat_xact_user_tables where relname in ('authors', 'tags', 'post_tags') order by 1",
    );
    expect(read.rows).toEqual(["authors", "post_tags", "tags"].map((relname) => ({ relname, seq_scan: 0 })));
    await client.end();
  }
});

test("a list that compares in another way than by equality is planned for each call", () => {
  for (const args of [
    { filters: { priority: { op: "gt", value: 1 } } },
    { filters: { priority: 1, title: { op: "like", value: "a%" } } },
    { filters: { OR: [{ priority: 1 }, { title: { op: "in", value: ["a"] } }] } },
    { filters: { priority: 1 }, page: 2 },
    { filters: { priority: 1 }, search: "x" },
    { orderBy: "title", page: 2 },
  ]) {
    const shape = listShape(articles, args);
    expect(shape?.values.slice(0, 2).map(Number)).toEqual([20, args.page === 2 ? 20 : 0]);
    expect(shape).not.toHaveProperty("compared");
  }
});

describe("the plan of a page by cursor", () => {
  const cursor = Buffer.from(
    JSON.stringify(["list", "2026-01-01 00:00:00+00", "2f8fb47c-d30e-4d98-bdb0-a1e0c9f121e6"]),
  ).toString("base64url");
  const comparedBy = (args: Record<string, unknown>) => {
    const shape = listShape(articles, args);
    expect(shape?.shape).toHaveProperty("cursor");
    return shape?.compared?.values;
  };

  test("is kept where one comparison starts the page, as that of a first page with the same filters", () => {
    expect(comparedBy({ cursor: null })).toEqual([]);
    expect(comparedBy({ cursor })).toEqual([]);
    expect(comparedBy({ cursor, orderDir: "asc" })).toEqual([]);
    expect(comparedBy({ cursor, orderBy: "id" })).toEqual([]);
    expect(comparedBy({ cursor, filters: { priority: 1 } })).toEqual([{ column: "priority", value: "1" }]);
  });

  test.for<Record<string, unknown>>([
    { cursor, orderBy: "publishedAt" },
    { cursor, search: "x" },
    { cursor: null, search: "x" },
    { cursor, filters: { priority: { op: "gt", value: 1 } } },
  ])("is made for each call with %j", (args) => {
    expect(comparedBy(args)).toBeUndefined();
  });
});
