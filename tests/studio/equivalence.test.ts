// If this file fails, Studio shows as a user something else than the service gives that user.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { fc } from "../support/properties.ts";
import { service, type User } from "../support/service.ts";
import { studio } from "./test-studio.ts";

const db = database();
const svc = service(db);
const opened = studio(db);

const users: User[] = [];
/** Queries of /api/query by table; those that callers without an account may call. */
const lists: Record<string, { name: string; anonymous?: string }> = {
  "public.notes": { name: "notes.list", anonymous: "open_notes.list" },
  "public.posts": { name: "posts.list", anonymous: "posts.list" },
  "public.guestbook": { name: "guestbook.list", anonymous: "guestbook.list" },
  "public.announcements": { name: "announcements.list" },
  "public.articles": { name: "plain_articles.list", anonymous: "articles.list" },
  "public.flags": { name: "flags.list" },
  "public.memberships": { name: "memberships.list" },
  "public.boards": { name: "boards.list" },
};

beforeAll(async () => {
  for (const name of ["ann", "ben", "cem"]) users.push(await svc.signUp(name));
  const ids = users.map(({ id }) => id);
  const each = (text: string) => db.sql(text, [ids]);
  const owner = "($1::text[])[1 + i % 3]";
  await each(
    `insert into notes (user_id, title, priority) select ${owner}, 'note ' || i, i % 4 from generate_series(1, 31) i`,
  );
  await each(`insert into posts (user_id, title) select ${owner}, '<b>post</b> ' || i from generate_series(1, 12) i`);
  await each(`insert into articles (user_id, title, body, price, rank, mood, day)
    select ${owner}, 'a' || i, repeat('ä😀', i * 40), i / 7.0, 9007199254740993 + i, 'it''s complicated', date '2026-01-01' + i
      from generate_series(1, 14) i`);
  await each(
    `insert into flags (id, user_id, label) select 'flag "' || i || '"', ${owner}, E'line\\n' || i from generate_series(1, 9) i`,
  );
  await each(
    `insert into memberships (team_id, user_id) select 'team ' || i % 5, ${owner} from generate_series(1, 6) i`,
  );
  await db.sql(
    "insert into boards (team_id, name) select 'team ' || i % 6, 'board ' || i from generate_series(1, 25) i",
  );
  await db.sql("insert into guestbook (message) select 'hello ' || i from generate_series(1, 5) i");
  await db.sql("insert into announcements (message) select 'news ' || i from generate_series(1, 3) i");
});

type Plain = Record<string, unknown>;

/** All rows that the service gives the caller, by id. */
async function given(user: User | null, table: string): Promise<Map<string, Plain>> {
  const name = (user ? lists[table]?.name : lists[table]?.anonymous) as string;
  const { status, body } = await svc.query(user, name, { limit: 100 });
  // Without a grant the service asks to sign in.
  if (!user && status === 401) return new Map();
  expect(status).toBe(200);
  return new Map(body.json.data.map((row: Plain) => [String(row.id), row]));
}

interface Shown {
  columns: { name: string; type: string }[];
  rows: { key: string[]; cells: (string | null)[] | null; cut: number[] }[];
  next: string[] | null;
}

/** All pages of Studio. */
async function shown(input: { table: string; as: string | null; limit: number; [more: string]: unknown }) {
  const pages: Shown[] = [];
  for (let after: string[] | null = null; ; after = pages.at(-1)?.next ?? null) {
    pages.push(await opened.ask("rows", { ...input, after }));
    if (!pages.at(-1)?.next) break;
    expect(pages.at(-1)?.rows.filter(({ cells }) => cells !== null)).toHaveLength(input.limit);
  }
  return { columns: pages[0]?.columns ?? [], rows: pages.flatMap(({ rows }) => rows) };
}

const camel = (name: string) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** A value of the API as text; and PostgreSQL's text of a time as JSON has it. */
const asText = (value: unknown) => (value === null || value === undefined ? null : String(value));
const asApi = (text: string | null, type: string) =>
  text !== null && type.startsWith("timestamp") ? text.replace(" ", "T").replace(/\+00$/, "+00:00") : text;

const viewer = fc.integer({ min: 0, max: 3 }).map((index) => index - 1);
const table = fc.constantFrom(...Object.keys(lists));
const draws = { numRuns: Number(process.env.FUZZ_RUNS ?? 40) };

describe("as a user, and as somebody without an account", () => {
  test("any table, page by page, has the rows and values of /api/query, and so has SQL", {
    timeout: 60_000 + draws.numRuns * 50,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        viewer,
        table,
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        async (who, name, limit, ghosts) => {
          const user = users[who] ?? null;
          if (!user && !lists[name]?.anonymous) return;
          const expected = await given(user, name);
          const { columns, rows } = await shown({ table: name, as: user?.id ?? null, limit, ghosts });
          const seen = rows.filter(({ cells }) => cells !== null);
          expect(seen.map(({ key }) => key[0]).sort()).toEqual([...expected.keys()].sort());
          for (const { key, cells, cut } of seen) {
            const row = expected.get(String(key[0])) as Plain;
            for (const [index, column] of columns.entries()) {
              const value = asText(row[camel(column.name)]);
              const cell = asApi(cells?.[index] ?? null, column.type);
              if (!cut.includes(index)) {
                expect([column.name, cell]).toEqual([column.name, value]);
                continue;
              }
              const input = { table: name, as: user?.id ?? null, key, column: column.name };
              expect(value?.startsWith(String(cell))).toBe(true);
              expect(await opened.ask("cell", input)).toEqual({ cell: value, isCut: false });
            }
          }
          const input = { as: user?.id ?? null, text: `select id, * from ${name}` };
          const bySql = await opened.send("sql", input);
          const ids = (bySql.body.rows ?? []).map(([id]: [string]) => id);
          expect([bySql.status, ids.sort()]).toEqual([columns.length > 0 ? 200 : 403, [...expected.keys()].sort()]);
          if (!ghosts) return void expect(seen).toEqual(rows);
          const all = await db.sql<{ id: string }>(`select id::text from ${name}`);
          expect(rows.map(({ key }) => key[0]).sort()).toEqual(all.map(({ id }) => id).sort());
        },
      ),
      draws,
    );
  });

  test("a filter gives those of /api/query's rows that it fits", async () => {
    for (const user of [...users, null]) {
      const expected = [...(await given(user, "public.notes")).values()].filter(({ priority }) => priority === 2);
      const filter = { column: "priority", operator: "=", value: "2" };
      const { rows } = await shown({ table: "public.notes", as: user?.id ?? null, limit: 3, filter, ghosts: true });
      expect(rows.map(({ key }) => Number(key[0]))).toEqual(
        expected.map(({ id }) => id).sort((a, b) => Number(a) - Number(b)),
      );
    }
  });

  test("a user who does not exist sees what everybody signed in sees", async () => {
    expect((await shown({ table: "public.notes", as: "nobody", limit: 50 })).rows).toEqual([]);
  });
});

describe("hidden rows", () => {
  test("are keys without a value, between the rows that the user sees", async () => {
    const [ann] = users as [User];
    const { rows } = await shown({ table: "public.notes", as: ann.id, limit: 4, ghosts: true });
    const hidden = rows.filter(({ cells }) => cells === null);
    expect(hidden).toHaveLength(31 - (await given(ann, "public.notes")).size);
    expect(JSON.stringify(hidden)).not.toContain("note");
    expect(rows.map(({ key }) => Number(key[0]))).toEqual(
      rows.map(({ key }) => Number(key[0])).toSorted((a, b) => a - b),
    );
  });

  test("tell which policy hides them, as `svc rls explain` does", async () => {
    const [ann] = users as [User];
    const { rows } = await shown({ table: "public.notes", as: ann.id, limit: 50, ghosts: true });
    const of = (isHidden: boolean) => rows.find(({ cells }) => (cells === null) === isHidden)?.key;
    const explain = (key: unknown) => opened.ask("explain", { table: "public.notes", as: ann.id, key });
    const [hidden] = await explain(of(true));
    expect(hidden).toMatchObject({ command: "select", admitted: false, policies: [{ admits: false }] });
    expect((await explain(of(false)))[0]).toMatchObject({ command: "select", admitted: true });
    expect(await opened.send("explain", { table: "public.notes", as: ann.id, key: ["999999"] })).toMatchObject({
      status: 404,
    });
  });
});

describe("what Studio's page may send", () => {
  const [notes, nobody] = ["public.notes", null];
  const send = (more: object) => opened.send("rows", { table: notes, as: nobody, ...more });

  test("is no SQL: names are looked up, values are values", async () => {
    const before = await db.snapshot("notes");
    for (const name of ["notes", "public.notes; drop table notes", "public.notes t --", "(select 1) x", "pg_authid"]) {
      expect([name, (await send({ table: name })).status]).toEqual([name, 404]);
    }
    for (const column of ['priority" = 1 or true --', "xmin", "user_id)"]) {
      const filter = { column, operator: "=", value: "1" };
      expect((await send({ as: users[0]?.id, filter })).status).toBe(400);
    }
    const value = "' or true --";
    const byText = await send({ as: users[0]?.id, filter: { column: "title", operator: "=", value } });
    expect(byText.body.rows).toEqual([]);
    const byNumber = await send({ as: users[0]?.id, filter: { column: "priority", operator: "=", value } });
    expect(byNumber).toMatchObject({ status: 400, body: { code: "BAD_REQUEST" } });
    expect((await send({ filter: { column: "title", operator: "= '' or", value } })).status).toBe(400);
    expect(await db.snapshot("notes")).toEqual(before);
  });

  test("a filter compares with the whole value, and says so where a type has no such operator", async () => {
    await db.sql(`
      create domain price as numeric;
      create table coins
        (code char(3) primary key, flags bit(3), tag varchar(3), place point, more json, near extensions.vector(2), cost price);
      insert into coins values ('EUR', '101', 'abc', '(1,2)', '{}', '[1,2]', 1.50);
      alter table coins enable row level security;
      create policy anyone on coins for select to svc_anonymous using (true);
      grant select on coins to svc_anonymous`);
    const found = async (column: string, value: string, operator = "=") => {
      const { status, body } = await send({ table: "public.coins", filter: { column, operator, value } });
      return status === 200 ? body.rows.length : [status, body.code, body.error];
    };
    for (const [column, right, longer] of [
      ["code", "EUR", "EURO"],
      ["flags", "101", "1011"],
      ["tag", "abc", "abcd"],
      ["near", "[1.0, 2]", "[1,3]"], // by text: the operator is in the extension's schema
      ["cost", "1.5", "1.51"],
      ["place", "(1,2)", "(1,3)"],
      ["more", "{}", '{"a": 1}'],
    ] as const) {
      expect([column, await found(column, right), await found(column, longer)]).toEqual([column, 1, 0]);
    }
    const none = [400, "BAD_REQUEST", expect.stringContaining("operator does not exist")];
    expect(await found("more", "{}", "<")).toEqual(none);
    expect([await found("near", "[1,2]", "<>"), await found("near", "[1,3]", "<>")]).toEqual([0, 1]);
    expect((await found("near", "no vector"))[0]).toBe(400);
    await db.sql("drop table coins; drop domain price");
  });

  test("a name of a table with quotes and markup is a name", async () => {
    await db.sql(`create table public."it's <b>""odd""</b>" ("a ""b" int primary key, "<i>" text)`);
    await db.sql(`insert into public."it's <b>""odd""</b>" values (1, '<img src=x onerror=alert(1)>')`);
    await db.sql(`grant select on public."it's <b>""odd""</b>" to svc_anonymous`);
    const tables = await opened.ask("tables", {});
    const name = tables.map((one: { name: string }) => one.name).find((one: string) => one.includes("odd"));
    expect((await opened.ask("rows", { table: name, as: null, ghosts: true })).rows).toEqual([
      { key: ["1"], cells: ["1", "<img src=x onerror=alert(1)>"], cut: [] },
    ]);
  });

  test("a column that the role may not select is named and not read, and a table without a grant has no rows", async () => {
    await db.sql("revoke select on guestbook from svc_anonymous");
    await db.sql("grant select (id) on guestbook to svc_anonymous");
    const part = await opened.ask("rows", { table: "public.guestbook", as: null });
    expect([part.withheld, part.rows[0].cells]).toEqual([["message"], ["1"]]);
    const none = await opened.ask("rows", { table: "auth.account", as: null });
    expect([none.columns, none.rows]).toEqual([[], []]);
  });

  test("a cell of 10 MB arrives cut", async () => {
    const [ann] = users as [User];
    await db.sql("insert into notes (id, user_id, title) values (70000, $1, repeat('x', 10000000))", [ann.id]);
    const { text, body } = await opened.send("rows", { table: notes, as: ann.id, after: ["69999"] });
    expect(body.rows).toMatchObject([{ key: ["70000"], cut: [2] }]);
    expect(text.length).toBeLessThan(10_000);
    const cell = await opened.ask("cell", { table: notes, as: ann.id, key: ["70000"], column: "title" });
    expect([cell.isCut, cell.cell.length]).toEqual([true, 1_048_576]);
  });
});

test("no session was made, and Studio had no error of its own", async () => {
  expect(await db.sql("select count(*)::integer as count from auth.session")).toEqual([{ count: users.length }]);
  expect(opened.failures).toEqual([]);
});
