// If this file fails, a table that becomes searchable is indexed only in part, or its words are miscounted.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

test("a table of many pages is indexed in parts, and counted as a whole", async () => {
  // Three rows fill two pages or more, so that there are more pages than are indexed at once.
  await db.sql(`
    create table pile (id integer primary key, body text, ballast text);
    alter table pile alter column ballast set storage plain;
    insert into pile select p, 'boat ' || case p % 2 when 0 then 'crane' else 'fee fee' end, repeat('x', 5000)
      from generate_series(1, 1100) as p`);
  const declared = [{ table: '"public"."pile"', id: "id", fields: ["body"], language: "english", always: "public" }];
  await db.sql("select svc_private.install_search($1)", [JSON.stringify(declared)]);

  expect(
    await db.sql("select term, fields, documents::integer from svc_private.search_counters order by term"),
  ).toEqual([
    { term: "boat", fields: 1, documents: 550 },
    { term: "boat", fields: 1, documents: 550 },
    { term: "crane", fields: 1, documents: 550 },
    { term: "fee", fields: 1, documents: 550 },
  ]);
  const found = await db.sql<{ row_id: string }>(
    `select unnest(row_ids) as row_id
       from svc_private.find_matches('"public"."pile"', '{body}', 'crane', 'default', 'public', null, null)`,
  );
  expect(found.map(({ row_id }) => Number(row_id)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 550 }, (_, place) => 2 * place + 2),
  );
});
