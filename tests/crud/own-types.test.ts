// If this file fails, a list or a row by its id is an error or wrong when a column has a type of an extension, in any
// schema, or of the application.
import { eq } from "drizzle-orm";
import { customType, integer, pgSchema, pgTable, text, timestamp } from "drizzle-orm/pg-core";
import { beforeAll, describe, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, defineApi, openRls, v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { mood } from "../fixture/backend/schema.ts";
import { asker } from "../graphql/support.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

const citext = customType<{ data: string }>({ dataType: () => "citext" });
const handle = customType<{ data: string }>({ dataType: () => "handle" });
const stock = pgSchema("stock");
const size = stock.enum("size", ["small", "large"]);

const members = pgTable(
  "members",
  {
    id: citext("id")
      .primaryKey()
      .$defaultFn(() => "Fay"),
    email: citext("email"),
    alias: citext("alias").notNull(),
    handle: handle("handle").notNull(),
    mood: mood("mood").notNull(),
    size: size("size"),
    number: integer("number").notNull().default(6),
    createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
  },
  () => openRls({ read: "anyone", write: "anyone" }),
);
const properties = ["email", "alias", "handle", "mood", "size", "number"] as const;
const crud = createCrudFactory(procedure)(members, {
  allowedFilters: properties,
  searchFields: ["email"],
  allowAnonymous: true,
});

const rows = [
  { id: "Ann", number: 1, email: "b@x.org", alias: "one", handle: "h1", mood: "calm", size: "large" },
  { id: "bob", number: 2, email: "A@x.org", alias: "Two", handle: "h2", mood: "it's complicated", size: null },
  { id: "Cid", number: 3, email: null, alias: "three", handle: "h1", mood: "calm", size: "small" },
  { id: "dora", number: 4, email: "C@x.org", alias: "Four", handle: "H3", mood: "calm", size: "large" },
  { id: "Eve", number: 5, email: "a@x.org", alias: "five", handle: "h2", mood: "it's complicated", size: "small" },
];

// In the schema where svc installs extensions, and in the schema that many applications use.
describe.for(["extensions", "public"])("with citext in schema %s", (schema) => {
  const db = database();
  let present = true;
  beforeAll(async () => {
    await db.sql(`create extension citext schema ${schema}`).catch((error) => {
      if (error.code !== "0A000" && error.code !== "58P01") throw error; // a server without contrib
      present = false;
    });
    await db.sql(`
      set search_path = public, extensions; -- as in migrations
      ${present ? "" : "create domain citext as text;"}
      create schema stock; grant usage on schema stock to svc_anonymous, svc_authenticated, svc_system;
      create domain handle as text check (length(value) < 9);
      create type stock.size as enum ('small', 'large');
      create table members (id citext primary key, email citext, alias citext not null, handle handle not null,
        mood mood not null, size stock.size, number integer not null default 6, created_at timestamptz not null default now());
      alter table members enable row level security;
      create policy all_anyone on members to svc_anonymous, svc_authenticated using (true);
      grant all on members to svc_anonymous, svc_authenticated, svc_system;
      ${defineApi({ procedures: { crud } })["~svc"].crud.map(crudFile).join("\n")}
      reset search_path`);
    for (const row of rows) {
      await db.sql(
        `insert into members (${Object.keys(row)}) select ${Object.keys(row)} from jsonb_populate_record(null::members, $1)`,
        [row],
      );
    }
  });
  // It only starts if it finds the functions by their signatures, without that search path.
  const named = procedure.query
    .name("members.named")
    .allowAnonymous()
    .input(v.string())
    .handler(({ context, input }) =>
      context.db.select({ id: members.id }).from(members).where(eq(members.email, input)).orderBy(members.id),
    );
  const ofSystem = procedure.query.name("members.ofSystem").handler(async ({ context }) => {
    const read = context.unsafeDb.select({ id: members.id }).from(members);
    return await read.where(eq(members.email, "a@X.org")).orderBy(members.id);
  });
  const svc = service(db, apiWith({ procedures: { members: crud, named, ofSystem } }));
  const list = async (args: object) => {
    const { status, body } = await svc.query(null, "members.list", args);
    expect({ args, status, body: status === 200 || body }).toEqual({ args, status: 200, body: true });
    return body.json as { data: Record<string, unknown>[]; nextCursor?: string | null };
  };
  const idsOf = async (args: object) =>
    (await list({ orderBy: "number", orderDir: "asc", ...args })).data.map(({ id }) => id);

  const orders = ["id", ...properties].flatMap((orderBy) => ["asc", "desc"].map((orderDir) => ({ orderBy, orderDir })));
  test.for(orders)("a cursor by $orderBy $orderDir neither skips nor repeats", async (order) => {
    const all = (await list({ ...order, limit: 100 })).data;
    expect(all).toHaveLength(rows.length);
    const walked: unknown[] = [];
    for (let cursor: string | null | undefined = null, page = 0; page === 0 || cursor; page++) {
      const { data, nextCursor } = await list({ ...order, limit: 2, cursor });
      walked.push(...data);
      cursor = nextCursor;
    }
    expect(walked).toEqual(all);
  });

  test("the order is that of the type, in any case and as an enum was declared", async ({ skip }) => {
    skip(!present, "this server has no citext");
    expect(await idsOf({ orderBy: "id" })).toEqual(["Ann", "bob", "Cid", "dora", "Eve"]);
    expect(await idsOf({ orderBy: "alias" })).toEqual(["Eve", "dora", "Ann", "Cid", "bob"]);
    expect(await idsOf({ orderBy: "size" })).toEqual(["Cid", "Eve", "Ann", "dora", "bob"]);
  });

  test("a row is found by its id as the type compares it", async ({ skip }) => {
    skip(!present, "this server has no citext");
    const made = await svc.mutate(null, "members.create", { alias: "six", handle: "h6", mood: "calm" });
    expect({ status: made.status, id: made.body.json?.id }).toEqual({ status: 200, id: "Fay" });
    expect((await svc.query(null, "members.get", { id: "FAY" })).body.json).toMatchObject({ id: "Fay", alias: "six" });
    const { body } = await svc.mutate(null, "members.update", { id: "fAY", size: "small" });
    expect(body.json).toMatchObject({ id: "Fay", alias: "six", size: "small" });
    expect((await svc.mutate(null, "members.remove", { id: "fay" })).body.json).toEqual({ id: "Fay" });
    expect((await svc.query(null, "members.get", { id: "Fay" })).body.json).toBeNull();
  });

  test("a handler and GraphQL compare as the type does", async ({ skip }) => {
    skip(!present, "this server has no citext");
    const found = [{ id: "bob" }, { id: "Eve" }];
    expect((await svc.query(null, "members.named", "a@X.org")).body.json).toEqual(found);
    expect((await svc.query(await svc.signUp("ada"), "members.ofSystem")).body.json).toEqual(found);
    const { data, errors } = await asker(svc)(
      null,
      `{ members(condition: { email: "a@X.org" }, orderBy: [NUMBER_ASC]) { nodes { id } pageInfo { hasNextPage } } }`,
    );
    expect({ data, errors }).toMatchObject({ data: { members: { nodes: found } }, errors: [] });
  });

  test("the index of such an id serves", async ({ skip }) => {
    skip(!present, "this server has no citext");
    await db.sql("begin");
    await db.sql(
      "insert into members (id, alias, handle, mood) select 'm' || n, 'm', 'm', 'calm' from generate_series(1, 2000) as n",
    );
    await db.sql("analyze members");
    const scans = "select seq_scan::int, idx_scan::int from pg_stat_xact_user_tables where relname = 'members'";
    const [before] = await db.sql(scans);
    await db.sql("select svc_crud.members_get('M1000')");
    expect(await db.sql(scans)).toEqual([{ ...before, idx_scan: before?.idx_scan + 1 }]);
    await db.sql("rollback");
  });

  // Enums by their values; types that svc does not know by their text in answers (docs/reference/filters.md).
  const filters: [object, string[]][] = [
    [{ email: "a@x.org" }, ["Eve"]],
    [{ email: { op: "in", value: ["a@x.org", null] } }, ["Cid", "Eve"]],
    [{ alias: { op: "ilike", value: "t%" } }, ["bob", "Cid"]],
    [{ handle: "h1" }, ["Ann", "Cid"]],
    [{ mood: "it's complicated" }, ["bob", "Eve"]],
    [{ size: "small" }, ["Cid", "Eve"]],
    [{ size: { op: "nin", value: ["small", null] } }, ["Ann", "dora"]],
  ];
  test.for(filters)("the filter %j finds %j", async ([filters, expected]) => {
    expect(await idsOf({ filters })).toEqual(expected);
  });

  test("JSON is made for the rows of the page and one more, in their order, however many are sorted", async () => {
    await db.sql("begin");
    await db.sql(`
      insert into members (id, alias, handle, mood) select 'm' || n, 'm' || 999 - n, 'm', 'calm' from generate_series(1, 900) as n;
      create sequence conversions;
      create function to_counted_json(mood) returns json language sql as $$ select to_json(nextval('conversions')) $$;
      create cast (mood as json) with function to_counted_json(mood)`);
    const [row] = await db.sql("select svc_crud.members_list($1) as list", [
      { filters: { handle: "m" }, orderBy: "alias", orderDir: "asc", page: 3, limit: 10 },
    ]);
    const numbered = Array.from({ length: 10 }, (_, index) => ({ id: `m${879 - index}`, mood: index + 1 }));
    expect(row?.list.data).toMatchObject(numbered);
    expect(await db.sql("select last_value::int as made from conversions")).toEqual([{ made: 11 }]);
    await db.sql("rollback");
  });

  test("a search looks into such a column", async () => {
    expect(await idsOf({ search: "A@X" })).toEqual(["bob", "Eve"]);
  });
});

describe("a column whose collation is nondeterministic", () => {
  const db = database();
  const names = pgTable(
    "names",
    {
      id: integer("id").primaryKey().generatedByDefaultAsIdentity(),
      name: text("name").notNull(),
      note: text("note").notNull(),
    },
    () => openRls({ read: "anyone", write: "anyone" }),
  );
  const pets = pgTable(
    "pets",
    { id: integer("id").primaryKey(), ownerId: integer("owner_id").references(() => names.id) },
    () => openRls({ read: "anyone", write: "nobody" }),
  );
  const crud = createCrudFactory(procedure)(names, {
    allowedFilters: ["name", "note"],
    searchFields: ["name", "note"],
    aggregate: { groupBy: ["name"], measures: ["count"] },
    allowAnonymous: true,
  });
  const petsCrud = createCrudFactory(procedure)(pets, {
    include: ["owner"],
    methods: ["list"],
    allowAnonymous: true,
  });
  beforeAll(() =>
    db.sql(`
      create collation ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      create table names (id integer primary key generated by default as identity, name text collate ignore_case not null, note text not null);
      alter table names enable row level security;
      create policy all_anyone on names to svc_anonymous, svc_authenticated using (true);
      create table pets (id integer primary key, owner_id integer references names);
      alter table pets enable row level security;
      create policy all_anyone on pets for select to svc_anonymous, svc_authenticated using (true);
      grant all on names, pets to svc_anonymous, svc_authenticated;
      insert into names values (1, 'Ann', 'x'), (2, 'bob', 'y'), (3, 'ANN', 'z');
      insert into pets values (1, 3);
      ${defineApi({ procedures: { crud, petsCrud } })["~svc"].crud.map(crudFile).join("\n")}`),
  );
  const svc = service(db, apiWith({ procedures: { names: crud, pets: petsCrud } }));
  const list = (args: object) => svc.query(null, "names.list", args);
  const idsOf = async (args: object) => (await list(args)).body.json.data.map(({ id }: { id: number }) => id).sort();

  test("is compared and sorted by it", async () => {
    expect(await idsOf({ filters: { name: "ann" } })).toEqual([1, 3]);
    expect(await idsOf({ filters: { name: { op: "ne", value: "ann" } } })).toEqual([2]);
    expect(await idsOf({ filters: { name: { op: "in", value: ["ANN"] } } })).toEqual([1, 3]);
    expect(await idsOf({ filters: { name: { op: "nin", value: ["BOB"] } } })).toEqual([1, 3]);
    const { data, nextCursor } = (await list({ orderBy: "name", orderDir: "asc", limit: 2, cursor: null })).body.json;
    expect(data.map(({ id }: { id: number }) => id)).toEqual([1, 3]);
    expect(await idsOf({ orderBy: "name", orderDir: "asc", cursor: nextCursor })).toEqual([2]);
  });

  test.for([
    { search: "an" },
    { filters: { name: { op: "ilike", value: "a%" } } },
    { filters: { note: "x", OR: [{ name: { op: "ilike", value: "a%" } }] } },
  ])("is named where PostgreSQL has no patterns for it: %j", async (args) => {
    const refused = {
      code: "BAD_REQUEST",
      error: "PostgreSQL cannot match patterns in name: the collation is nondeterministic.",
      hint: expect.stringContaining("searchFields"),
    };
    expect(await list(args)).toMatchObject({ status: 400, body: refused });
    expect(await svc.query(null, "names.aggregate", { ...args, measures: ["count"] })).toMatchObject({
      status: 400,
      body: refused,
    });
  });

  test("is named in a filter of a related table", async () => {
    const named = (args: object) => svc.query(null, "pets.list", args);
    expect((await named({ filters: { owner: { name: "ann" } } })).body.json.total).toBe(1);
    expect(await named({ filters: { owner: { name: { op: "ilike", value: "a%" } } } })).toMatchObject({
      status: 400,
      body: { error: "PostgreSQL cannot match patterns in names.name: the collation is nondeterministic." },
    });
  });
});
