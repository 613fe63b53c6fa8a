// If this file fails, a table that declares only some columns of a scope shows rows to the wrong users, or none.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSvcProcedureBuilders, defineApi, searchable, v } from "@svc/core";
import { getTableConfig, integer, pgTable, serial, text } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ownerColumn } from "../../src/crud/rls.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { searchFile } from "../../src/search/search-sql.ts";
import { leavePlatform, migrationsOf } from "../codegen/evolution.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { fc } from "../support/properties.ts";
import { TestService, type User } from "../support/service.ts";
import { placeOf, type Row, tables } from "./declared.ts";

type Table = keyof typeof tables;
const names = Object.keys(tables) as Table[];
const words = ["boat", "crane", "fee"];
const runs = Number(process.env.FUZZ_RUNS ?? 0) > 0 ? 5_000 : 60;

const search = createSvcProcedureBuilders()
  .query.name("any.search")
  .allowAnonymous()
  .input(v.any())
  .handler(({ context, input: { table, query, ...options } }) => context.search(table, query, options));
const db = database();
const app = new TestService(db, defineApi({ procedures: { search } }), {}, tables);
const rows = {} as Record<Table, Row[]>;
let users: User[];

beforeAll(async () => {
  await leavePlatform(db);
  // As `svc migrate generate` and `svc codegen` write it, and `svc migrate` applies it.
  const migration = (await migrationsOf({ schema: tables }))[0] ?? "";
  await mkdir(join(root, ".svc"), { recursive: true });
  const application = await mkdtemp(join(root, ".svc/declared-"));
  for (const folder of ["migrations", "sql"]) await mkdir(join(application, folder));
  await writeFile(join(application, "migrations/0001_create_tables.sql"), migration);
  await writeFile(join(application, "sql/search.sql"), searchFile(tables));
  await migrate({ adminUrl: db.url("admin"), platform: root, application });
  await rm(application, { recursive: true });
  await app.start();
  users = await Promise.all(["ann", "bob", "cleo"].map((name) => app.signUp(name)));
  for (const table of names) {
    rows[table] = await db.sql<Row>(
      `insert into ${table} (user_id, title, rank, corpus, visibility)
       select u, case n % 4 when 0 then 'boat crane' when 1 then 'fee' when 2 then 'crane fee boat' else 'boat' end, n % 3, c, s
         from unnest($1::text[]) as u, generate_series(1, 4) as n, unnest(array['default', 'other']) as c,
              unnest(array['private', 'shared', 'public']) as s
       returning id, user_id as "userId", title, rank, corpus, visibility`,
      [users.map(({ id }) => id)],
    );
  }
});
afterAll(() => app.stop());

const ask = (user: User | null, table: Table, query: string, options: object) =>
  app.query(user, "any.search", { table, query, ...options });

test("everybody finds what the declaration says and no more, by every scope, filter and page", {
  timeout: 600_000,
}, async () => {
  const input = fc.record({
    table: fc.constantFrom(...names),
    caller: fc.option(fc.nat(2), { freq: 4 }),
    ownerUserId: fc.option(fc.nat(2), { nil: undefined }),
    corpus: fc.constantFrom("default", "other"),
    visibility: fc.constantFrom("private", "shared", "public"),
    query: fc.constantFrom(...words),
    rank: fc.option(fc.nat(2), { nil: undefined }),
    limit: fc.integer({ min: 1, max: 30 }),
    offset: fc.nat(6),
  });
  await fc.assert(
    fc.asyncProperty(
      input,
      async ({ table, caller, ownerUserId: named, corpus, visibility, query, rank, limit, offset }) => {
        const user = caller === null ? null : (users[caller] as User);
        const ownerUserId = named === undefined ? undefined : users[named]?.id;
        const { status, body } = await ask(user, table, query, {
          scope: { corpus, visibility, ownerUserId },
          filters: { rank },
          limit,
          offset,
        });
        const isMine = ownerUserId === undefined || ownerUserId === user?.id;
        const fixed = placeOf(table, { corpus, visibility } as Row);
        const expected =
          user === null && (visibility !== "public" || ownerUserId !== undefined)
            ? 401
            : !isMine
              ? 403
              : fixed.corpus !== corpus || fixed.visibility !== visibility || (table === "bulletins" && ownerUserId)
                ? 400
                : 200;
        expect([status, body.error]).toEqual([expected, expected === 200 ? undefined : expect.any(String)]);
        if (expected !== 200) return;
        const owner = visibility === "private" ? user?.id : ownerUserId;
        const found = rows[table].filter((row) => {
          const place = placeOf(table, row);
          const isInScope =
            place.corpus === corpus && place.visibility === visibility && (!owner || row.userId === owner);
          return isInScope && (rank === undefined || row.rank === rank) && row.title.split(" ").includes(query);
        });
        const ids = new Set(found.map(({ id }) => id));
        expect(body.json.items.filter(({ id }: { id: number }) => !ids.has(id))).toEqual([]);
        expect(body.json.items).toHaveLength(Math.min(Math.max(found.length - offset, 0), limit));
      },
    ),
    { numRuns: runs },
  );
});

test("the policies alone hold: a table read without a search shows what could be found", async () => {
  const client = await db.connect("request");
  for (const user of [...users, null]) {
    for (const table of names) {
      await client.query("begin");
      await client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [
        user?.id ?? "",
        user ? "svc_authenticated" : "svc_anonymous",
      ]);
      const mayRead = rows[table].filter((row) => {
        const { visibility } = placeOf(table, row);
        return visibility === "public" || (user && (visibility === "shared" || row.userId === user.id));
      });
      if (user || mayRead.length > 0) {
        const read = await client.query<{ id: number }>(`select id from ${table} order by id`);
        expect(read.rows.map(({ id }) => id)).toEqual(mayRead.map(({ id }) => id).toSorted((a, b) => a - b));
      } else await expect(client.query(`select id from ${table}`)).rejects.toMatchObject({ code: "42501" });
      await client.query("rollback");
    }
  }
});

test("the migration holds one policy for each visibility that rows may have", async () => {
  const made = await db.sql<{ tablename: string; policyname: string }>("select tablename, policyname from pg_policies");
  const policies = (table: Table) =>
    made
      .filter(({ tablename }) => tablename === table)
      .map(({ policyname }) => policyname)
      .toSorted();
  expect(policies("papers")).toEqual(["select_private", "select_public", "select_shared"]);
  expect(policies("diaries")).toEqual([
    "delete_owner",
    "insert_owner",
    "select_owner",
    "select_private",
    "update_owner",
  ]);
  expect(policies("manuals")).toEqual(["select_shared"]);
  expect(policies("bulletins")).toEqual(["select_public"]);
});

test("events about rows that are private without exception go to their owners alone", () => {
  const owner = (table: Table) => ownerColumn(getTableConfig(tables[table]).policies);
  expect([owner("diaries"), owner("papers"), owner("manuals")]).toEqual(["user_id", null, null]);
});

describe("a declaration is refused", () => {
  const t = pgTable("t", {
    id: serial("id").primaryKey(),
    userId: text("user_id"),
    body: text("body"),
    n: integer("n"),
  });
  const fields = [t.body];
  test.for([
    ["without an owner, where rows may be private", { fields }, "owner: is missing"],
    ["with a column for visibility and no owner", { fields, visibility: t.body }, "owner: is missing"],
    ["with a misspelt column", { fields, owner: t.userId, corpus: undefined }, "corpus: must be a column of the table"],
    [
      "with a misspelt column for visibility",
      { fields, owner: t.userId, visibility: undefined },
      "visibility: must be private, shared or public",
    ],
    [
      "with a visibility that is none",
      { fields, owner: t.userId, visibility: "secret" },
      "visibility: must be private",
    ],
    ["with an owner that is no id", { fields, owner: t.n }, "id of a user"],
    ["with a corpus that is no text", { fields, owner: t.userId, corpus: t.n }, "corpus: must be a text column"],
    ["without fields", { fields: [], owner: t.userId }, "fields: must be 1 to 16"],
    [
      "with a misspelt field",
      { fields: [...fields, undefined], owner: t.userId },
      "fields[1]: must be a column of the table",
    ],
    [
      "with an option that there is not",
      { fields, owner: t.userId, lang: "german" },
      '"lang" is not a known key. Did you mean "language"?',
    ],
    [
      "with a language that is none",
      { fields, owner: t.userId, language: "'; drop" },
      "language: must be a text search configuration",
    ],
  ] as const)("%s", ([, options, named]) => {
    expect(() => searchable(options as never)).toThrow(named);
  });
});
