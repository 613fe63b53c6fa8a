// If this file fails, a text of many combining marks occupies a process of the database for minutes, and nothing ends it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();
/** In the order that takes longest to sort: each of the second kind has to pass all of the first. */
const marks = (count: number) => "\u0301".repeat(count) + "\u0323".repeat(count);

test("more than 30 marks in a row are left out before they are sorted", async () => {
  const words = async (text: string) =>
    (await db.sql("select word from svc_private.search_words($1) as word", [text])).map(({ word }) => word);
  expect(await words(`Cafe\u0301 a${marks(15)}b`)).toEqual(["café", `a${marks(15)}b`.normalize("NFKC")]);
  // The time limit of this test is the assertion: sorting them would take hours.
  expect(await words(`boat a${marks(250_000)}b`)).toEqual(["boat", "ab"]);
  const passages = "select parts from svc_hidden.search_passages(array[$1], 'boat', false, 'english')";
  expect(await db.sql(passages, [`boat a${marks(40_000)}`])).toMatchObject([
    { parts: [{ text: "boat", match: true }, {}] },
  ]);
});

test("the list has every character that this server sorts", async () => {
  const file = readFileSync(join(root, "sql/search/search_normal.sql"), "utf8");
  const listed = `${[...file.matchAll(/^ +'(.+)'$/gm)].map(([, line]) => line).join("")}]`;
  // U+0345 has the highest class, so that each other one moves before it.
  const missing = await db.sql(
    `select to_hex(c) as code from generate_series(1, 1114111) as c
      where c not between 55296 and 57343 and chr(c) !~ $1
        and normalize('a' || U&'\\0345' || chr(c), nfkd) not like 'a' || U&'\\0345' || '%'`,
    [listed],
  );
  expect(missing).toEqual([]);
});
