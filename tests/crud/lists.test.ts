// If this file fails, a list has another order than requested, skips or repeats rows, or finds the wrong ones.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";

const db = database();
const svc = service(db);
let ann: User;
let bob: User;

beforeAll(async () => {
  ann = await svc.signUp("ann");
  bob = await svc.signUp("bob");
});

interface Article {
  id: string;
  title: string;
  priority: number | null;
  createdAt: string;
}

/** Articles of Ann, oldest first; missing values get the table's defaults. */
async function given(...rows: Record<string, unknown>[]): Promise<void> {
  await db.sql("truncate articles");
  for (const [index, row] of rows.entries()) {
    const all = { user_id: ann.id, title: `t${index}`, created_at: `2026-01-01T00:00:${10 + index}Z`, ...row };
    const names = Object.keys(all);
    const places = names.map((_, place) => `$${place + 1}`);
    await db.sql(`insert into articles (${names}) values (${places})`, Object.values(all));
  }
}

const list = (args?: unknown, name = "articles", user: User | null = ann) => svc.query(user, `${name}.list`, args);
const titles = async (args?: unknown, name = "articles") =>
  ((await list(args, name)).body.json.data as Article[]).map(({ title }) => title);

describe("search", () => {
  const rows = [
    { title: "Red fox" },
    { title: "blue", body: "a FOX in blue" },
    { title: "100% wool" },
    { title: "100 wool" },
    { title: "a_b" },
    { title: "axb\\" },
  ];
  beforeEach(() => given(...rows));

  const cases: [string, string, string[]][] = [
    ["ignores case and looks in every field", "fox", ["blue", "Red fox"]],
    ["takes % as a per cent sign", "100%", ["100% wool"]],
    ["takes _ as an underscore", "a_b", ["a_b"]],
    ["takes \\ as a backslash", "b\\", ["axb\\"]],
    ["finds nothing where there is nothing", "whale", []],
    ["without text is no search", "", ["axb\\", "a_b", "100 wool", "100% wool", "blue", "Red fox"]],
    ["is text and not SQL", "x' or true --", []],
  ];
  test.for(cases)("%s", async ([, search, expected]) => {
    expect(await titles({ search })).toEqual(expected);
    expect((await list({ search })).body.json.total).toBe(expected.length);
  });

  test("without searchFields has no effect", async () => {
    expect(await titles({ search: "fox" }, "plain_articles")).toHaveLength(6);
  });

  test("that is no text is 400", async () => {
    for (const search of [5, {}, ["x"], "a\0b"]) {
      const { status, body } = await list({ search });
      expect({ status, path: body.issues?.[0]?.path }).toEqual({ status: 400, path: ["search"] });
    }
  });
});

describe("order", () => {
  const rows = [
    { title: "b", priority: 2 },
    { title: "C", priority: null },
    { title: "a", priority: 1 },
    { title: "d", priority: 2 },
  ];
  beforeEach(() => given(...rows));

  const cases: [string, unknown, string[]][] = [
    ["is newest first", undefined, ["d", "a", "C", "b"]],
    ["may be oldest first", { orderDir: "asc" }, ["b", "C", "a", "d"]],
    ["by a column is descending", { orderBy: "title" }, ["d", "b", "a", "C"]],
    ["by a column is descending when it is asked to be", { orderBy: "title", orderDir: "desc" }, ["d", "b", "a", "C"]],
    ["by a column may be ascending", { orderBy: "title", orderDir: "asc" }, ["C", "a", "b", "d"]],
    ["by an unknown column is the default", { orderBy: "nonsense" }, ["d", "a", "C", "b"]],
    ["by something else than a column is the default", { orderBy: "title; drop table articles" }, ["d", "a", "C", "b"]],
    ["by a member of every object is the default", { orderBy: "__proto__" }, ["d", "a", "C", "b"]],
  ];
  test.for(cases)("%s", async ([, args, expected]) => {
    expect(await titles(args)).toEqual(expected);
  });

  test.for(["asc", "desc"])("has rows without a value at the end, %s", async (orderDir) => {
    expect((await titles({ orderBy: "priority", orderDir })).at(-1)).toBe("C");
  });

  test("by a column that callers do not see is the default", async () => {
    expect(await titles({ orderBy: "priority" }, "titles")).toEqual(["d", "a", "C", "b"]);
  });

  test("needs no right to read what callers do not see", async () => {
    const columns = "id, title, user_id, deleted_at, created_at";
    await db.sql(
      `revoke select on articles from svc_authenticated; grant select (${columns}) on articles to svc_authenticated`,
    );
    const found = titles({ orderBy: "title", orderDir: "asc" }, "titles");
    await found.finally(() => db.sql("grant select on articles to svc_authenticated"));
    expect(await found).toEqual(["C", "a", "b", "d"]);
  });

  test("in another direction is 400", async () => {
    const { status, body } = await list({ orderDir: "sideways" });
    expect({ status, path: body.issues[0].path }).toEqual({ status: 400, path: ["orderDir"] });
  });
});

describe("a cursor", () => {
  /** Follows cursors to the end. */
  async function walk(args: Record<string, unknown>, between?: (page: number) => Promise<void>) {
    const seen: Article[] = [];
    let cursor: string | null = null;
    for (let page = 0; page < 100; page++) {
      const { status, body } = await list({ ...args, cursor });
      expect(status, JSON.stringify(body)).toBe(200);
      seen.push(...body.json.data);
      cursor = body.json.nextCursor;
      if (cursor === null) return seen;
      await between?.(page);
    }
    throw new Error("the cursor never ends");
  }

  const twoDigits = (number: number) => String(number).padStart(2, "0");
  const many = Array.from({ length: 23 }, (_, index) => ({
    title: `t${twoDigits(index)}`,
    priority: index % 5 === 0 ? null : index % 4,
    rank: index % 3,
    price: index % 2 ? "1.50" : null,
    // With ties, so that only the id distinguishes rows.
    created_at: `2026-01-01T00:00:${twoDigits(Math.floor(index / 4))}.123456Z`,
  }));

  const columns = ["createdAt", "id", "title", "priority", "rank", "price", "mood", "publishedAt"];
  const orders = columns.flatMap((orderBy) => ["asc", "desc"].map((orderDir) => ({ orderBy, orderDir })));
  test.for(orders)("by $orderBy $orderDir neither skips nor repeats, in the order of pages", async (order) => {
    await given(...many);
    const walked = await walk({ ...order, limit: 5 });
    const { body } = await list({ ...order, limit: 100 });
    expect(walked).toEqual(body.json.data);
    expect(new Set(walked.map(({ id }) => id)).size).toBe(many.length);
  });

  test("stays where it is while rows come, go and change", async () => {
    await given(...many);
    const walked = await walk({ limit: 4 }, async (page) => {
      await db.sql(`insert into articles (user_id, title) values ($1, 'new')`, [ann.id]); // before the beginning
      await db.sql(`delete from articles where title = $1`, [`t${22 - page}`]); // already seen
      await db.sql(`update articles set body = 'changed', updated_at = now()`);
    });
    const old = walked.map(({ title }) => title).filter((title) => title !== "new");
    expect(new Set(old).size).toBe(old.length);
    expect(old).toHaveLength(many.length);
  });

  test("goes with filters and search, and counts all of them", async () => {
    await given(...many);
    const wanted = { limit: 2, filters: { priority: 3 }, search: "t" };
    const expected = many.filter(({ priority }) => priority === 3).length;
    expect((await list({ ...wanted, cursor: null })).body.json.total).toBe(expected);
    expect((await walk(wanted)).map(({ priority }) => priority)).toEqual(Array(expected).fill(3));
  });

  test("appears only where it is asked for", async () => {
    await given(...many);
    expect((await list({ limit: 2 })).body.json).not.toHaveProperty("nextCursor");
    expect((await list({ limit: 2, orderBy: "title" })).body.json).not.toHaveProperty("nextCursor");
    expect((await list({ limit: 100, cursor: null })).body.json.nextCursor).toBeNull();
  });

  test("of another order, resource, filter or user is refused, and so is what is none", async () => {
    await given(...many);
    const { body } = await list({ cursor: null, limit: 2 });
    const cursor: string = body.json.nextCursor;
    const filters = { priority: { op: "gte", value: 0 } };
    const filtered: string = (await list({ cursor: null, limit: 2, filters })).body.json.nextCursor;
    expect(filtered).toEqual(expect.any(String));
    const encoded = (text: string) => Buffer.from(text).toString("base64url");
    const attempts: [unknown, string?, (User | null)?][] = [
      [{ cursor, orderBy: "title" }],
      [{ cursor, orderDir: "asc" }],
      [{ cursor, filters: { priority: 1 } }],
      [{ cursor, search: "t" }],
      [{ cursor }, "plain_articles"],
      [{ cursor }, "articles", bob],
      [{ cursor }, "articles", null],
      [{ cursor: filtered, search: '{"priority": {"op": "gte", "value": 0}}' }],
      [{ cursor: "" }],
      [{ cursor: "x" }],
      [{ cursor: `${cursor}x` }],
      [{ cursor: encoded("[1,2,3]") }],
      [{ cursor: encoded('["a","b"]') }],
      [{ cursor: encoded("not json") }],
      [{ cursor: encoded("\xff\xfe") }],
      [{ cursor: "'; drop table articles; --" }],
      [{ cursor: "é".repeat(10) }],
    ];
    for (const [args, name, user = ann] of attempts) {
      const answer = await list(args, name, user);
      expect({ args, status: answer.status, error: answer.body.error }).toEqual({
        args,
        status: 400,
        error: "This cursor does not belong to this list.",
      });
    }
    expect((await list({ cursor: 5 })).body.issues[0].path).toEqual(["cursor"]);
    expect(await titles({ cursor, limit: 2 })).toHaveLength(2); // the table is still there
  });

  test("that was forged for the right list shows no row that the policies hide", async () => {
    await svc.mutate(bob, "notes.create", { title: "Bob's" });
    await svc.mutate(ann, "notes.create", { title: "one" });
    await svc.mutate(ann, "notes.create", { title: "two" });
    const { body } = await list({ cursor: null, limit: 1 }, "notes");
    const [name] = JSON.parse(Buffer.from(body.json.nextCursor, "base64url").toString());
    const forged = Buffer.from(JSON.stringify([name, "9999-01-01", "2147483647"])).toString("base64url");
    const answer = await list({ cursor: forged }, "notes");
    expect(answer.body.json.data.map((row: Article) => row.title)).toEqual(["two", "one"]);
  });
});

describe("the total", () => {
  beforeEach(() => given({}, {}, {}, {}));

  test("is exact by default, on every page", async () => {
    for (const args of [{ limit: 1 }, { limit: 1, page: 9 }, { limit: 2, orderBy: "title", page: 2 }]) {
      expect((await list(args)).body.json.total).toBe(4);
    }
  });

  // Full, partly full and empty last pages, and pages behind the end. Some of them tell the total by themselves.
  const pages = [0, 1, 3, 4, 6].flatMap((rows) => [1, 2, 3, 9].map((page) => ({ rows, page })));
  test.for(pages)("of $rows rows, three on a page, is right on page $page", async ({ rows, page }) => {
    await given(...Array.from({ length: rows + 2 }, (_, index) => ({ priority: index < rows ? 1 : 2 })));
    const filters = { priority: 1 };
    for (const args of [{}, { filters }, { filters, orderBy: "title" }, { filters, search: "t", orderDir: "asc" }]) {
      const where = "filters" in args ? "priority = 1" : "true";
      const [{ count } = { count: -1 }] = await db.sql(`select count(*)::int from articles where ${where}`);
      const { data, total } = (await list({ ...args, page, limit: 3 })).body.json;
      expect({ args, rows: data.length, total }).toEqual({
        args,
        rows: Math.max(0, Math.min(3, count - (page - 1) * 3)),
        total: count,
      });
    }
  });

  test.for([0, 2, 3, 4, 6, 7])("of %i rows, three on a page, is right behind every cursor", async (rows) => {
    await given(...Array.from({ length: rows }, () => ({})));
    for (let cursor: string | null = null, page = 0; page === 0 || cursor !== null; page++) {
      const { total, nextCursor }: { total: number; nextCursor: string | null } = (
        await list({ cursor, limit: 3, page: 5 })
      ).body.json;
      expect({ page, total }).toEqual({ page, total: rows });
      cursor = nextCursor;
    }
  });

  test("may be an estimate, which is near after ANALYZE", async () => {
    await db.sql("analyze articles");
    for (const args of [undefined, { orderBy: "title" }]) {
      expect((await list(args, "estimated_articles")).body.json.total).toBe(4);
    }
  });

  test.for([{ OR: "x" }, { OR: null }, { AND: { priority: 1 } }])(
    "is of all rows with %j, which is no group",
    async (filters) => {
      expect((await list({ filters })).body.json.total).toBe(4);
    },
  );

  test("may be left out", async () => {
    for (const args of [undefined, { filters: { title: "t1" } }]) {
      expect((await list(args, "uncounted_articles")).body.json.total).toBeNull();
    }
  });
});
