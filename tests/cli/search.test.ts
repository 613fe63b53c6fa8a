// If this file fails, an operator cannot see why a row has its rank in a search.
import { beforeAll, expect, test } from "vitest";
import { addPages } from "../search/application.ts";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();

const svc = (...args: string[]) => svcHere(db, fixture, args);

let ids: string[];
beforeAll(async () => {
  await db.sql(`insert into auth."user" (id, name, email)
                values ('ann', 'Ann', 'ann@x.test'), ('bob', 'Bob', 'bob@x.test')`);
  ids = await addPages(db, [
    { userId: "ann", title: "Boat house", body: "boats of members", visibility: "public" },
    { userId: "ann", title: "Fees", body: "a boat pays every night that it stays", visibility: "public" },
    { userId: "ann", title: "Diary", body: "the boat is mine" },
  ]);
});

test("the addends of every row add up to its score, and each is what the printed formula says", async () => {
  const { code, text } = await svc("search", "pages", "boats hous", "--prefix", "--explain");
  expect(code).toBe(0);
  const [first, ...blocks] = text.split(/\n(?=[0-9a-f-]{36}: )/);
  expect(first?.match(/[0-9a-f-]{36}/g)).toEqual(ids.slice(0, 2));
  expect(blocks).toHaveLength(2);
  for (const block of blocks) {
    const [head = "", , ...lines] = block.split("\n");
    const addends = lines.filter((one) => / of 2 /.test(one)).map((one) => one.split(/\s{2,}/));
    const sum = addends.reduce((total, cells) => total + Number(cells.at(-1)), 0);
    expect(sum).toBeCloseTo(Number(head.split(": ")[1]), 3);
    for (const [, n, , idf, tf, , , norm, adds] of addends) {
      expect((Number(n) * Number(idf) * Number(tf)) / (Number(tf) + Number(norm))).toBeCloseTo(Number(adds), 3);
    }
  }
  expect(blocks[0]).toMatch(/^boat +1 +2 of 2 +0\.1823 +2 /m);
});

test("private rows are those of the user that is named, by id or e-mail address", async () => {
  for (const user of ["ann", "ANN@x.test"]) {
    expect((await svc("search", "pages", "boat", "--visibility", "private", "--user", user)).text).toContain(ids[2]);
  }
  expect((await svc("search", "pages", "boat", "--visibility", "private", "--user", "bob")).text).toContain(
    'Nothing found in the corpus "default" with the visibility "private".',
  );
});

test("of a table whose rows are all alike the scope follows from the declaration", async () => {
  await db.sql("create table news (id text primary key, body text)");
  await db.sql("insert into news values ('n1', 'the boat race')");
  const declared = { table: '"public"."news"', id: "id", fields: ["body"], language: "english", always: "shared" };
  await db.sql("select svc_private.install_search($1, 'cli')", [JSON.stringify([declared])]);
  expect((await svc("search", "news", "boat", "--user", "ann", "--explain")).text).toMatch(/n1.*boat +1 +1 of 1/s);
  const other = await svc("search", "news", "boat", "--user", "ann", "--visibility", "private");
  expect([other.code, other.text]).toEqual([1, expect.stringContaining("All rows of public.news are shared")]);
});

test.for([
  [["pagez", "boat"], "pages"],
  [["pages", "boat", "--fields", "rank"], "title, body"],
  [["pages", "boat", "--visibility", "private"], "--user"],
  [["pages", "boat", "--limit", "many"], "1 to 100"],
  [
    ["pages", "boat", "--user", "ann@y.test"],
    "There is no user ann@y.test.\n  --user takes an id or an e-mail address.",
  ],
] as const)("%s says what to give", async ([args, named]) => {
  const { code, text } = await svc("search", ...args);
  expect(code).toBe(1);
  expect(text).toContain(named);
});
