// If this file fails, Studio shows an operator wrong rows of a table with unusual columns or keys, or none of them.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { studio } from "./test-studio.ts";

const db = database();
const opened = studio(db);
const odd = '"Odd ""Names"""."select"';

beforeAll(async () => {
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@example.com')`);
  await db.sql(`set role svc_owner;
    create schema "Odd ""Names""";
    grant usage on schema "Odd ""Names""" to svc_authenticated;
    create table ${odd} ("%s" bigint primary key, t text, j json, jb jsonb, "user" text);
    insert into ${odd} values (9007199254740993, 'x', '{"a": "\\u0000"}', 'null', ''), (2, 'hidden', '1', null, null);
    create table no_key (n integer);
    insert into no_key select i from generate_series(1, 60) i;
    create table withheld_key (id integer primary key, title text);
    insert into withheld_key select i, 'title ' || i from generate_series(1, 5) i;
    create table of_odd_types (id integer primary key, j json, x xml, p point, b box);
    insert into of_odd_types values (1, '{"a": 1}', '<a/>', '(1,2)', '(1,1),(0,0)'), (2, '[]', '<b/>', '(2,1)', '(2,1),(1,0)');
    create table of_vectors (v extensions.vector(1) primary key, is_shown boolean not null, title text);
    insert into of_vectors select array[i], i % 2 = 0, 'title ' || i from generate_series(1, 120) i`);
  for (const [table, using] of [
    [odd, "jb is not null"],
    ["no_key", "true"],
    ["of_odd_types", "true"],
    ["withheld_key", "true"],
    ["of_vectors", "is_shown"],
  ]) {
    await db.sql(`alter table ${table} enable row level security`);
    await db.sql(`create policy some_rows on ${table} to svc_authenticated using (${using})`);
    const columns = table === "withheld_key" ? "(title)" : "";
    await db.sql(`grant select ${columns} on ${table} to svc_authenticated`);
  }
  await db.sql("grant update on of_vectors to svc_authenticated");
  await db.sql("reset role");
});

const read = (table: string, more = {}) => opened.ask("rows", { table, as: "ann", ...more });
const explain = async (table: string, ...key: string[]) => {
  const verdicts = await opened.ask("explain", { table, as: "ann", key });
  return verdicts.find(({ command }: { command: string }) => command === "select").admitted;
};

test("names that need quotes, and a number that JavaScript would round", async () => {
  const { rows, next } = await read(odd);
  expect(rows).toEqual([
    { key: ["9007199254740993"], cells: ["9007199254740993", "x", '{"a": "\\u0000"}', "null", ""], cut: [] },
  ]);
  expect(next).toBe(null);
});

test("a policy is explained on the row as it is: with a column t, with what jsonb refuses, with the null of JSON", async () => {
  expect(await explain(odd, "9007199254740993")).toBe(true);
  expect(await explain(odd, "2")).toBe(false);
});

test("a table without a primary key shows its first rows and says that there are more", async () => {
  const { rows, next, more, isKeyed } = await read("public.no_key", { ghosts: true });
  expect([rows.length, next, more, isKeyed]).toEqual([50, null, true, false]);
  expect((await read("public.no_key", { limit: 60 })).more).toBe(false);
});

test("no row that the viewer sees is shown as hidden where the viewer may not select the key", async () => {
  const { rows, withheld, isKeyed } = await read("public.withheld_key", { ghosts: true });
  expect(rows.map(({ cells }: { cells: string[] }) => cells)).toEqual([1, 2, 3, 4, 5].map((n) => [`title ${n}`]));
  expect([withheld, isKeyed]).toEqual([["id"], false]);
});

test.each([
  ["j", "[]", '{"a": 1}'],
  ["x", "<b/>", "<a/>"],
  ["p", "(2,1)", "(1, 2)"],
  ["b", "(2,1),(1,0)", "(0,0),(1,1)"],
])("a filter compares column %s, whose type has no equality, as text", async (column, second, first) => {
  const found = async (operator: string, value: string) =>
    (await read("public.of_odd_types", { filter: { column, operator, value } })).rows.map(
      ({ key }: { key: string[] }) => key[0],
    );
  expect([await found("=", second), await found("=", first), await found("<>", first)]).toEqual([["2"], ["1"], ["2"]]);
});

test("the key of a row that has too many characters is not sent, nor are those of hidden rows", async () => {
  await db.sql(`set role svc_owner;
    create table of_long_keys (id text primary key, is_shown boolean not null);
    insert into of_long_keys values ('a', true), ('b', false), (repeat('k', 100000), true), (repeat('l', 100000), false), ('m', true);
    alter table of_long_keys enable row level security;
    create policy shown on of_long_keys to svc_authenticated using (is_shown);
    grant select on of_long_keys to svc_authenticated; reset role`);
  const { rows } = await read("public.of_long_keys", { ghosts: true });
  expect(rows).toEqual([
    { key: ["a"], cells: ["a", "true"], cut: [] },
    { key: ["b"], cells: null, cut: [] },
    { key: ["m"], cells: ["m", "true"], cut: [] },
    { key: null, cells: ["k".repeat(400), "true"], cut: [0] },
  ]);
  const first = await read("public.of_long_keys", { limit: 2 });
  const second = await read("public.of_long_keys", { after: first.next });
  const cells = [first, second].map((page) => page.rows.map((row: { cells: string[] }) => row.cells[0]?.length));
  expect([first.next, cells, second.more]).toEqual([["a"], [[1], [400, 1]], false]);
});

test.for(["extensions", "public"])(
  "a filter and a key compare a type of an extension in schema %s as the type does",
  async (schema, { skip }) => {
    const created = await db.sql(`create extension citext schema ${schema}`).catch((error) => {
      if (error.code !== "0A000" && error.code !== "58P01") throw error; // a server without contrib
    });
    skip(!created, "this server has no citext");
    await db.sql(`set role svc_owner;
    create table of_words (id ${schema}.citext primary key, word ${schema}.citext, words ${schema}.citext[]);
    insert into of_words values ('a', 'One', '{x,Y}'), ('B', 'two', '{z}'), ('c', 'Three', null);
    alter table of_words enable row level security;
    create policy all_rows on of_words to svc_authenticated using (true);
    grant select on of_words to svc_authenticated; reset role`);
    const table = "public.of_words";
    const found = async (column: string, operator: string, value: string) =>
      (await read(table, { filter: { column, operator, value } })).rows.map(({ key }: { key: string[] }) => key[0]);
    expect([await found("word", "=", "ONE"), await found("word", "<>", "ONE")]).toEqual([["a"], ["B", "c"]]);
    expect([await found("words", "=", "{X,y}"), await found("word", ">", "THREE")]).toEqual([["a"], ["B"]]);
    const { next } = await read(table, { limit: 1 });
    expect((await read(table, { after: next })).rows.map(({ key }: { key: string[] }) => key[0])).toEqual(["B", "c"]);
    expect(await opened.ask("cell", { table, as: "ann", key: ["b"], column: "word" })).toMatchObject({ cell: "two" });
    await db.sql(`set role svc_owner;
    create domain word as ${schema}.citext;
    create table of_domains (id word primary key, is_shown boolean);
    insert into of_domains values ('a', true), ('B', false), ('c', true);
    alter table of_domains enable row level security;
    create policy some_rows on of_domains to svc_authenticated using (is_shown);
    grant select on of_domains to svc_authenticated; reset role`);
    const hidden = await read("public.of_domains", { after: ["A"], ghosts: true });
    expect(hidden.rows.map(({ key, cells }: { key: string[]; cells: unknown }) => [key[0], cells !== null])).toEqual([
      ["B", false],
      ["c", true],
    ]);
    expect(await explain("public.of_domains", "b")).toBe(false);
    await db.sql("drop table of_words, of_domains; drop domain word; drop extension citext");
  },
);

describe("a key of an extension's type, whose operators the functions of Studio do not find", () => {
  const table = "public.of_vectors";

  test("pages, with the hidden rows between", async () => {
    const first = await read(table);
    const second = await read(table, { after: first.next });
    const titles = [...first.rows, ...second.rows].map(({ cells }) => cells[2]);
    expect(titles).toEqual(Array.from({ length: 60 }, (_, index) => `title ${2 * index + 2}`));
    const { rows } = await read(table, { after: first.next, ghosts: true });
    expect(rows.map(({ key, cells }: { key: string[]; cells: unknown }) => [key[0], cells !== null])).toEqual(
      Array.from({ length: 20 }, (_, index) => [`[${index + 101}]`, index % 2 === 1]),
    );
  });

  test("a cell, the policies of a row, and a change", async () => {
    expect(await opened.ask("cell", { table, as: "ann", key: ["[2]"], column: "title" })).toMatchObject({
      cell: "title 2",
    });
    expect([await explain(table, "[2]"), await explain(table, "[3]")]).toEqual([true, false]);
    const change = { command: "update", table, key: ["[2]"], set: { title: "new" }, was: { title: "title 2" } };
    expect(await opened.ask("act", { act: "act_change_rows", as: "ann", changes: [change] })).toEqual({ done: 1 });
    expect(await db.sql("select v::text from of_vectors where title = 'new'")).toEqual([{ v: "[2]" }]);
  });
});

test("a column that was dropped is none", async () => {
  await db.sql(
    "create table with_less (id integer primary key, gone text, title text); alter table with_less drop column gone",
  );
  expect(
    await db.sql(`select c.name from svc_private.relations r, svc_private.studio_columns(r.name) c
      where r.oid = 'with_less'::regclass`),
  ).toEqual([{ name: "id" }, { name: "title" }]);
});
