// If this file fails, the beginning of a word counts more in a search than its whole words.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { addPages } from "./application.ts";

const db = database();

test("the words that a beginning is completed to count as one, so a whole word of the query counts more", async () => {
  const completions = ["dinghy", "dinner", "dingo", "dinosaur", "dinar"];
  const add = (title: string, body = "bread") => addPages(db, [{ userId: "ann", title, body, visibility: "public" }]);
  await add("Bakery");
  await add("Dinghy", "dinner");
  for (const word of completions) await add(word);
  const scope = { corpus: "default", visibility: "public" };
  const found = await db.sql<{ title: string }>(
    `select title from svc.search_keyword($1, '{title,body}', 'bakery din', $2, '[]', 10, 0, true) as s
       join pages on pages.id = s.id::uuid order by s.score desc`,
    [JSON.stringify({ table: '"public"."pages"' }), JSON.stringify(scope)],
  );
  expect(found.map(({ title }) => title).slice(0, 2)).toEqual(["Bakery", "Dinghy"]);
  expect(found).toHaveLength(7);
});
