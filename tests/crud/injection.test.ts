// If this file fails, text from a caller or a name from an author becomes SQL: other users' rows, dropped tables, or a
// 500 for a title with an apostrophe.
import {
  boolean,
  getTableConfig,
  pgEnum,
  pgSchema,
  pgTable,
  point,
  serial,
  text,
  timestamp,
} from "drizzle-orm/pg-core";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { describeColumns } from "../../src/crud/columns.ts";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, DefinitionError, defineApi, openRls, ownerRls } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { articles, flags } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { anyCharacter, fc } from "../support/properties.ts";
import { type Answer, apiWith, service, type User } from "../support/service.ts";
import { corpus, names } from "./hostile-text.ts";

const runs = Math.min(Number(process.env.FUZZ_RUNS ?? 300), 20_000);
const seed = Number(process.env.FUZZ_SEED ?? 20260101);

const storable = (one: string) => !one.includes("\0") && one.isWellFormed();
const stored = corpus.filter((one) => storable(one) && one.length < 10_000);
/** Values of other types than text. */
const typed = [true, 0, -1, 1.5, 1e308, {}, [], ["'"], { "'": "'" }, { length: 1 }, [[[]]]];

// An author's names that need quotes: of a schema, a table, its columns and their properties.
const createCrud = createCrudFactory(procedure);
const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`;
const hostileColumns = () => ({
  id: serial('i"d').primaryKey(),
  userId: text("us'er").notNull(),
  createdAt: timestamp('created "at"', { withTimezone: true }).notNull().defaultNow(),
  updatedAt: timestamp("Updated $$ At", { withTimezone: true }).notNull().defaultNow(),
  gone: boolean(`go"ne'$$`).notNull().default(false),
  shape: point("sha'pe"),
  ...Object.fromEntries(names.map((name) => [name, text(name).default(name)])),
});
const weird = pgSchema('Sch"ema; --').table('weird "table"; drop\n; --', hostileColumns(), (t) => ownerRls(t.userId));
const order = pgTable("order", hostileColumns(), (t) => ownerRls(t.userId));
const hostile = Object.entries({ weird, order }).map(([prefix, table]) => {
  const options = { prefix, searchFields: names, allowedFilters: names, softDelete: { field: "gone" } };
  return { prefix, table, crud: createCrud(table as typeof order, options as never) };
});

const db = database();
beforeAll(async () => {
  for (const { table, crud } of hostile) {
    const { name, schema = "public" } = getTableConfig(table);
    const target = `${identifier(schema)}.${identifier(name)}`;
    const columns = describeColumns(table).map(({ name, type, defaultSql }) => {
      const isNumbered = defaultSql === null || type.endsWith("serial"); // which brings its own default
      return `${identifier(name)} ${type} ${isNumbered ? "" : `default ${defaultSql}`}`;
    });
    await db.sql(`
      create schema if not exists ${identifier(schema)} authorization svc_owner;
      set role svc_owner;
      create table ${target} (${columns});
      alter table ${target} enable row level security;
      create policy own on ${target} to svc_authenticated using ("us'er" = (select svc.current_user_id()));
      grant usage on schema ${identifier(schema)} to svc_authenticated;
      grant all on ${target} to svc_authenticated;
      grant usage on all sequences in schema ${identifier(schema)} to svc_authenticated;
      ${defineApi({ procedures: { crud } })["~svc"].crud.map(crudFile).join("\n")}
      reset role`);
  }
});
const svc = service(db, apiWith({ procedures: Object.fromEntries(hostile.map(({ prefix, crud }) => [prefix, crud])) }));
let ann: User;
/** Ids of Ann's articles, newest first, with their titles: the corpus. */
let ids: string[] = [];
const titles = new Map<string, string>();

/** All traces of injected SQL: tables, columns, functions, rights, policies, other users' rows. */
const everything = () =>
  db.sql(`
    select (select md5(string_agg(concat(oid, relname, relowner, relacl, relrowsecurity), ',' order by oid)) from pg_class
             where relnamespace not in ('pg_toast'::regnamespace, 'pg_catalog'::regnamespace)) as tables,
           (select md5(string_agg(concat(attrelid, attname, atttypid), ',' order by attrelid, attnum)) from pg_attribute) as columns,
           (select md5(string_agg(concat(oid, prosrc, proacl), ',' order by oid)) from pg_proc) as functions,
           (select md5(string_agg(p::text, ',' order by oid)) from pg_policy as p) as policies,
           (select json_agg(n order by id) from notes as n) as notes, (select json_agg(v) from vault as v) as vault,
           (select json_agg(id order by id) from articles) as articles`);
let before: unknown;

beforeAll(async () => {
  ann = await svc.signUp("ann");
  const bob = await svc.signUp("bob");
  await db.sql("insert into vault (secret) values ('a secret')");
  await db.sql("insert into notes (user_id, title) values ($1, 'a secret')", [bob.id]);
  for (const title of stored) {
    const { status, body } = await svc.mutate(ann, "articles.create", { title, [title]: title });
    expect({ status, title: body.json?.title }).toEqual({ status: 200, title });
    titles.set(body.json.id, title);
  }
  ids = [...titles.keys()].reverse();
});
beforeEach(async () => {
  before = await everything();
});
afterEach(async () => {
  expect(await everything()).toEqual(before);
});

const list = (args: unknown) => svc.query(ann, "articles.list", { limit: 100, ...(args as object) });
const seen = ({ status, body }: Answer) =>
  status === 200 ? body.json.data.map((row: { id: string }) => row.id) : status;
const having = (test: (title: string) => boolean) => ids.filter((id) => test(titles.get(id) ?? ""));
const containing = (part: string) => having((title) => title.toLowerCase().includes(part.toLowerCase()));
const isColumn = (name: string) => describeColumns(articles).some(({ property }) => property === name);

const asKey = (one: unknown) => (typeof one === "string" ? one : JSON.stringify(one));
const base64 = (one: unknown) => Buffer.from(asKey(one)).toString("base64url");

type Place = { args: (one: unknown) => object; finds: (one: string) => unknown };
const equal = (one: string) => having((title) => title === one);
/** Every place for text in a list of articles, with the expected rows or status. */
// biome-ignore format: a table
const places: Record<string, Place> = {
  orderBy: { args: (orderBy) => ({ orderBy }), finds: (one) => (storable(one) ? ids : 400) },
  orderDir: { args: (orderDir) => ({ orderDir }), finds: () => 400 },
  page: { args: (page) => ({ page }), finds: () => 400 },
  limit: { args: (limit) => ({ limit }), finds: () => 400 },
  cursor: { args: (cursor) => ({ cursor }), finds: () => 400 },
  "the text of a cursor": { args: (one) => ({ cursor: base64(one) }), finds: () => 400 },
  search: { args: (search) => ({ search }), finds: (one) => (storable(one) && [...one].length <= 1_000 ? containing(one) : 400) },
  "an argument": { args: (one) => ({ [asKey(one)]: one }), finds: (one) => (one === "select" ? 400 : ids) },
  "a name in select": { args: (one) => ({ select: [one] }), finds: () => 400 },
  "a relation": { args: (one) => ({ include: { [asKey(one)]: true } }), finds: () => 400 },
  filters: { args: (filters) => ({ filters }), finds: () => ids },
  "a key": { args: (one) => ({ filters: { [asKey(one)]: "x" } }), finds: () => ids },
  "a key of an OR": { args: (one) => ({ filters: { OR: [{ [asKey(one)]: "x" }] } }), finds: () => ids },
  "an operator": { args: (op) => ({ filters: { title: { op, value: "x" } } }), finds: () => ids },
  "a member beside an operator": { args: (one) => ({ filters: { title: { op: "ne", value: "no title", [`${asKey(one)} `]: one } } }), finds: () => ids },
  "a value": { args: (title) => ({ filters: { title } }), finds: (one) => (storable(one) ? equal(one) : ids) },
  "a value in an OR": { args: (title) => ({ filters: { OR: [{ title }, { title: "no title" }] } }), finds: (one) => (storable(one) ? equal(one) : []) },
  "a value of in": { args: (one) => ({ filters: { title: { op: "in", value: [one, "no title"] } } }), finds: (one) => (storable(one) ? equal(one) : ids) },
  "a value of ne": { args: (value) => ({ filters: { title: { op: "ne", value } } }), finds: (one) => (storable(one) ? having((title) => title !== one) : ids) },
};

describe.for(Object.entries(places))("in a list, as %s,", ([, { args, finds }]) => {
  test("text is text", async () => {
    for (const one of corpus) expect(seen(await list(args(one))), one.slice(0, 100)).toEqual(finds(one));
  });
  test("other types are ignored or refused", async () => {
    for (const one of typed) expect([200, 400]).toContain((await list(args(one))).status);
  });
});

test("random text in any place of a list is text", { timeout: 3_600_000 }, async () => {
  const fragment = fc.oneof(
    fc.constantFrom(...corpus.filter((one) => one.length < 99)),
    fc.string({ unit: anyCharacter }),
  );
  const mixed = fc.array(fragment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
  const property = fc.asyncProperty(fc.constantFrom(...Object.values(places)), mixed, async ({ args, finds }, one) => {
    fc.pre(!isColumn(one));
    expect(seen(await list(args(one)))).toEqual(finds(one));
  });
  await fc.assert(property, { numRuns: runs, seed });
});

const columns = ["mood", "priority", "rank", "price", "published", "publishedAt", "day", "userId"];
test.for(columns)("as the value of %s, in filters and in rows, text is refused or fits", async (column) => {
  for (const one of corpus) {
    const all = ["eq", "gt", "like"].map((op) => ({ [column]: { op, value: one } }));
    const answer = await list({ filters: { AND: [...all, { [column]: { op: "in", value: [one] } }] } });
    const isTooLong = column === "userId" && [...one].length > 1_000; // for a pattern; other columns have no like
    if (isTooLong) expect(answer.status).toBe(400);
    else expect([0, ids.length]).toContain(seen(answer).length);
    const { status } = await svc.mutate(ann, "articles.update", { id: ids[0], [column]: one });
    expect([200, 400], one.slice(0, 100)).toContain(status);
  }
});

test.for([...columns, "title", "createdAt", "id"])("in a cursor by %s, keys and ids are values", async (orderBy) => {
  const { body } = await list({ orderBy, cursor: null, limit: 1 });
  const [name, key, id] = JSON.parse(Buffer.from(body.json.nextCursor, "base64url").toString());
  for (const one of [...corpus, ...typed, null]) {
    for (const cursor of [0, 1, 2].map((index) => [name, key, id].with(index, one))) {
      const answer = await list({ orderBy, cursor: base64(cursor) });
      expect([200, 400], JSON.stringify(cursor).slice(0, 200)).toContain(answer.status);
      if (answer.status === 200) expect(ids).toEqual(expect.arrayContaining(seen(answer)));
    }
  }
});

test("as an id, text finds the row that has it, or none", async () => {
  for (const one of corpus) {
    for (const name of ["notes", "articles", "flags"]) {
      const [found, changed] = name === "flags" && storable(one) ? [200, 404] : [400, 400];
      const { status, body } = await svc.query(ann, `${name}.get`, { id: one });
      expect({ status, row: body.json ?? null }).toEqual({ status: found, row: null });
      for (const operation of ["update", "remove"]) {
        expect((await svc.mutate(ann, `${name}.${operation}`, { id: one, label: "x" })).status).toBe(changed);
      }
    }
    expect((await svc.query(ann, one)).status).toBe(404);
  }
});

test.for(["ifUnmodifiedSince", "publishedAt", "day"])("as %s, text is refused", async (property) => {
  for (const one of [...corpus, ...typed]) {
    const { status, body } = await svc.mutate(ann, "articles.update", { id: ids[0], [property]: one });
    expect({ status, path: body.issues?.[0].path }).toEqual({ status: 400, path: [property] });
  }
});

// biome-ignore format: a list
const times = ["2026-01-01T00:00+15:59", "2026-01-01T00:00+16:00", "2026-01-01T00:00-23:59", "0000-01-01", "294277-01-01", "2026-02-30"];
test.for(times)("the time %s is taken or refused", async (time) => {
  for (const property of ["ifUnmodifiedSince", "publishedAt", "day"]) {
    const { status } = await svc.mutate(ann, "articles.update", { id: ids[0], [property]: time });
    expect([200, 400, 409], property).toContain(status);
  }
});

test("in columns of text, JSON and arrays, text comes back as it was or is refused", async () => {
  for (const one of corpus) {
    for (const row of [{ aText: one }, { aJson: one }, { aJson: { "'": [one] } }, { someTags: [one] }]) {
      const { status, body } = await svc.mutate(ann, "samples.create", row);
      expect(status, JSON.stringify(row).slice(0, 100)).toBe(storable(one) ? 200 : 400);
      if (status === 200) expect(body.json).toMatchObject(row);
    }
  }
});

test("text names no option's column, no prefix, and no column that PostgreSQL would cut", () => {
  const refused = (options: object, table = flags) =>
    expect(() => createCrud(table, options as never)).toThrow(DefinitionError);
  for (const name of corpus) {
    for (const option of ["searchFields", "allowedFilters"]) refused({ [option]: [name] });
    for (const option of ["pick", "omit"]) refused({ columns: { [option]: [name] } });
    refused({ softDelete: { field: name } });
    if (!/^([a-z]{2,11}|OR|AND|NULL|ID|NaN|Infinity|__proto__|toString|_)$/.test(name)) refused({ prefix: name });
  }
  const policies = () => openRls({ read: "anyone", write: "nobody" });
  for (const name of ["x".repeat(64), "é".repeat(32), "a\0", "\ud800"]) {
    refused({}, pgTable("x", { id: serial("id"), [name]: text("x") }, policies) as never);
    refused({}, pgTable("x", { id: serial("id"), x: text(name) }, policies) as never);
  }
});

describe.for(hostile)("a table of hostile names, $prefix,", ({ prefix }) => {
  const call = async (operation: string, args: object, status = 200) => {
    const send = operation === "list" || operation === "get" ? svc.query : svc.mutate;
    const answer = await send.call(svc, ann, `${prefix}.${operation}`, args);
    expect(answer.status, JSON.stringify([args, answer.body]).slice(0, 500)).toBe(status);
    return answer.body.json;
  };
  const row = (suffix: string) => Object.fromEntries(names.map((name) => [name, name + suffix]));
  const values = (found: object) => names.map((name) => Object.getOwnPropertyDescriptor(found, name)?.value);
  const texts = (suffix: string) => names.map((name) => name + suffix);

  test("serves all five operations", async () => {
    const first = await call("create", {});
    expect(values(first)).toEqual(texts("")); // the defaults
    expect(values(await call("create", { ...row("2"), shape: "(1,2)" }))).toEqual(texts("2"));
    expect(values(await call("update", { id: first.id, ...row("1") }))).toEqual(texts("1"));
    expect(values(await call("get", { id: first.id }))).toEqual(texts("1"));
    expect((await call("list", {})).data.map(values)).toEqual([texts("2"), texts("1")]);
    await call("update", { id: first.id, ifUnmodifiedSince: "2020-01-01" }, 409);

    for (const name of names) {
      const { data, total } = await call("list", { filters: { [name]: `${name}1` }, search: `${name}1` });
      expect({ rows: data.map(values), total }, name).toEqual({ rows: [texts("1")], total: 1 });
      const order = { orderBy: name, orderDir: "asc", limit: 1 };
      const { data: one, nextCursor } = await call("list", { ...order, cursor: null });
      const { data: two } = await call("list", { ...order, cursor: nextCursor });
      expect([...one, ...two].map(values), name).toEqual([texts("1"), texts("2")]);
    }
    await call("list", { orderBy: "shape" }); // a type without an order

    expect(await call("remove", { id: first.id })).toEqual({ id: first.id });
    expect((await call("list", {})).data.map(values)).toEqual([texts("2")]);
    expect(await call("get", { id: first.id })).toBeNull();
    await call("update", { id: first.id, ...row("3") }, 404);
  });
});

test("an enum's name is quoted where its values are cast", () => {
  const mood = pgEnum('mo"od', ["calm"]);
  const [column] = describeColumns(pgTable("x", { mood: mood("mood") }));
  expect(column?.castType).toBe('"public"."mo""od"');
});
