// If this file fails, a search reads the whole index where a part would do, and takes longer with every row.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

test("what is read does not depend on the planner's statistics, nor grow with the matches", async () => {
  const client = await db.connect("admin");
  const read = async () => {
    const { rows } = await client.query<{ scanned: number; documents: number; counters: number }>(
      `select sum(pg_stat_get_xact_tuples_returned(oid)) filter (where relname in ('search_documents', 'search_counters'))::integer as scanned,
              sum(pg_stat_get_xact_tuples_fetched(oid)) filter (where relname = 'search_documents')::integer as documents,
              sum(pg_stat_get_xact_tuples_returned(oid)) filter (where relname = 'search_counters_term')::integer as counters
         from pg_class where relnamespace = 'svc_private'::regnamespace`,
    );
    return rows[0] ?? { scanned: -1, documents: -1, counters: -1 };
  };
  // One transaction: nobody counts the rows before it ends, and for the planner the index is as empty as it was.
  await client.query("begin");
  await client.query("create table planned (id integer primary key, body text)");
  const declared = [{ table: '"public"."planned"', id: "id", fields: ["body"], language: "english", always: "public" }];
  await client.query("select svc_private.install_search($1)", [JSON.stringify(declared)]);
  // Words of which each stands in a half, a third, … of the notes, some of them several times.
  await client.query(
    `insert into planned
     select p, string_agg(repeat('word' || n || ' ', 1 + abs(hashint4(p + n)) % 20 / 17), ' ')
       from generate_series(1, 6000) as p, generate_series(1, 300) as n
      where n = 1 or hashint4(p * 1000 + n) % n = 0
      group by p`,
  );
  const search = async (query: string) => {
    const before = await read();
    const { rows } = await client.query("select * from svc.find_matches($1, '{body}', $2, 'default', 'public', 10)", [
      '"public"."planned"',
      query,
    ]);
    const after = await read();
    return {
      found: rows.length,
      scanned: after.scanned - before.scanned,
      documents: after.documents - before.documents,
      counters: after.counters - before.counters,
    };
  };
  for (const query of [
    "word2",
    "word2 word3",
    "word1 word200",
    "word3 word40 word250",
    "word2 word3 word5 word7 word11",
  ]) {
    const { found, scanned, documents, counters } = await search(query);
    expect([query, found, scanned]).toEqual([query, 10, 0]);
    expect(documents, `documents read for ${query}`).toBeGreaterThanOrEqual(10);
    expect(documents, `documents read for ${query}`).toBeLessThan(600);
    expect(counters, `counters read for ${query}`).toBeLessThan(400);
  }
  await client.query("rollback");
});
