// If this file fails, the index does not match its table: rows are missed, or have wrong scores.

import { expect, test } from "vitest";
import { foldSearch } from "../../src/search/fold-search.ts";
import { database } from "../support/database.ts";
import { fc } from "../support/properties.ts";
import { addPages } from "./application.ts";
import { bm25 } from "./bm25.ts";

const db = database();
const words = ["boat", "house", "harbour", "fee", "night", "crane", "diesel", "winter"];
const runs = Number(process.env.FUZZ_RUNS ?? 0) > 0 ? 400 : 40;

interface Row {
  id: string;
  title: string;
  body: string;
}

/** The expected scores of rows. Words of the test are their own stems. */
function reference(rows: Row[], fields: ("title" | "body")[], query: string[], weights: [number, number] | null) {
  const texts = (times: (field: "title" | "body") => number) =>
    new Map(rows.map((row) => [row.id, fields.map((field) => `${row[field]} `.repeat(times(field))).join(" ")]));
  const [title, body] = weights ?? [1, 1];
  return bm25(
    texts(() => 1),
    query,
    texts((field) => ({ title, body })[field]),
  );
}

/** How much a word of a title and of a body counts, as `searchable` declares it. */
const weigh = (weights: [number, number] | null) =>
  db.sql(
    `update svc_private.search_tables set definition = (definition - 'bm25') || $1 where name = '"public"."pages"'`,
    [JSON.stringify(weights ? { bm25: { weights } } : {})],
  );

const text = (maxLength: number) => fc.array(fc.constantFrom(...words), { maxLength }).map((all) => all.join(" "));
const step = fc.oneof(
  fc.record({ kind: fc.constant("insert" as const), title: text(4), body: text(12) }),
  fc.record({ kind: fc.constant("update" as const), place: fc.nat(), title: text(4), body: text(12) }),
  fc.record({ kind: fc.constant("move" as const), place: fc.nat() }),
  fc.record({ kind: fc.constant("delete" as const), place: fc.nat() }),
);

test("after any writes, every search scores as BM25 over the rows that are there", async () => {
  const query = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 5 });
  const fields = fc.constantFrom<("title" | "body")[]>(["title"], ["body"], ["title", "body"]);
  const steps = fc.array(step, { minLength: 1, maxLength: 25 });
  const weight = fc.constantFrom<[number, number] | null>(null, [3, 1], [1, 2], [10, 1]);
  await fc.assert(
    fc.asyncProperty(
      steps,
      query,
      fields,
      weight,
      fc.integer({ min: 1, max: 8 }),
      async (todo, asked, chosen, weights, wanted) => {
        await db.sql("delete from pages");
        await weigh(weights);
        for (const one of todo) {
          const rows = await db.sql<Row>("select id from pages order by id");
          const id = "place" in one ? rows[one.place % Math.max(rows.length, 1)]?.id : undefined;
          if (one.kind === "insert") {
            await addPages(db, [{ userId: "ann", title: one.title, body: one.body, visibility: "public" }]);
          } else if (one.kind === "update") {
            await db.sql("update pages set title = $2, body = $3 where id = $1", [id, one.title, one.body]);
          } else if (one.kind === "move") {
            await db.sql(
              "update pages set corpus = case corpus when 'default' then 'other' else 'default' end where id = $1",
              [id],
            );
          } else await db.sql("delete from pages where id = $1", [id]);
        }
        const rows = await db.sql<Row>("select id, title, body from pages where corpus = 'default'");
        const expected = reference(rows, chosen, asked, weights);
        const found = await db.sql<{ row_id: string; score: number }>(
          `select row_id, score from svc_private.find_matches('"public"."pages"', $1, $2, 'default', 'public', null, $3) as m,
                unnest(m.row_ids, m.scores) as u (row_id, score)`,
          [chosen, asked.join(" "), wanted],
        );
        const best = [...expected.values()].sort((a, b) => b - a).slice(0, wanted);
        expect(found.map(({ score }) => score.toFixed(9))).toEqual(best.map((score) => score.toFixed(9)));
        for (const { row_id, score } of found) expect(score).toBeCloseTo(expected.get(row_id) ?? -1, 9);
      },
    ),
    { numRuns: runs },
  );
  await weigh(null);
});

test("writers at the same time neither wait for each other nor miscount", async () => {
  await db.sql("delete from pages");
  const clients = await Promise.all(Array.from({ length: 6 }, () => db.connect("admin")));
  const insert = "insert into pages (user_id, title, visibility) values ('ann', $1, 'public')";
  await clients[0]?.query(insert, ["boat"]);
  // All of them keep transactions open over the same words: if one waited for another, it would wait for ever.
  for (const client of clients) await client.query("begin");
  for (let round = 0; round < 40; round++) {
    for (const client of clients) await client.query(insert, ["boat house"]);
  }
  await clients[0]?.query("rollback");
  for (const client of clients.slice(1)) await client.query("commit");

  const count = async (table: string, condition: string) =>
    (await db.sql<{ n: string }>(`select sum(documents) as n from svc_private.${table} where ${condition}`))[0]?.n;
  const holding = (term: string) =>
    count("search_counters", `key >> 10 = svc_private.search_key(group_id, '${term}', 0, 0, 2) >> 10`);
  expect(await holding("hous")).toBe("200");
  expect(await holding("boat")).toBe("201");
  expect(await count("search_totals", "true")).toBe("201");
});

test("counters of rows that are gone go with the daily care, and others keep their sums", async () => {
  await db.sql("truncate pages");
  const page = (userId: string, title: string) => ({ userId, title, visibility: "private" as const });
  await addPages(db, [page("ann", "boat"), page("ann", "boat"), page("ann", "crane"), page("bob", "boat")]);
  await db.sql("delete from pages where user_id = 'bob' or title = 'crane'");
  // Another transaction holds what it merges meanwhile.
  const one = await db.connect("system");
  await one.query("begin; select svc_private.fold_search(0)");
  await foldSearch(db.pool("system"));
  await addPages(db, [page("ann", "boat")]);
  await one.query("commit");
  await foldSearch(db.pool("system"));
  const counted = "select documents from svc_private.search_counters order by documents";
  expect(await db.sql(counted)).toEqual([{ documents: 3 }]);
  expect(await db.sql("select documents::integer from svc_private.search_totals where documents > 0")).toEqual([
    { documents: 3 },
  ]);
  const many = "select from svc_private.search_totals group by group_id having count(*) > 1";
  expect(await db.sql(many)).toEqual([]);
});

test("a truncated table is not found any more", async () => {
  await addPages(db, [{ userId: "ann", title: "boat", visibility: "public" }]);
  await db.sql("truncate pages");
  expect(await db.sql("select from svc_private.search_documents")).toEqual([]);
  expect(await db.sql("select from svc_private.search_counters where documents <> 0")).toEqual([]);
});

test("the best ten are the first ten of all, although most matches are never looked at", async () => {
  await db.sql("truncate pages");
  // Word n occurs in about every n-th page: common words and rare ones.
  await db.sql(`
    insert into pages (user_id, title, body, visibility)
    select 'ann', 'page' || case when p % 97 = 0 then ' w31 w2' else '' end, (
             select coalesce(string_agg(repeat('w' || n || ' ', 1 + (p * n) % 3), ' '), '')
               from unnest(array[1, 2, 3, 7, 31, 101, 499, 997]) as n where hashint4(p * 1000 + n) % n = 0
           ) || repeat('filler ', abs(hashint4(p)) % 40), 'public'
      from generate_series(1, 4000) as p`);
  const find = (query: string, wanted: number | null) =>
    db.sql<{ row_id: string; score: number }>(
      `select row_id, score
         from svc_private.find_matches('"public"."pages"', '{title,body}', $1, 'default', 'public', null, $2) as m,
              unnest(m.row_ids, m.scores) as u (row_id, score)`,
      [query, wanted],
    );
  const queries = ["w1 w997", "w2 w3 w101", "w1 w2 w3 w7 w31 w101 w499 w997", "w499 w1", "w31 page filler", "w2 w3"];
  for (const weights of [[5, 1], [1, 3], null] as ([number, number] | null)[]) {
    await weigh(weights);
    for (const query of queries) {
      const all = await find(query, null);
      expect(all.length).toBeGreaterThan(1_000);
      const scores = (rows: { score: number }[]) => rows.map(({ score }) => score.toFixed(9));
      for (const wanted of [1, 10, 50]) expect(scores(await find(query, wanted))).toEqual(scores(all.slice(0, wanted)));
    }
  }

  // Of 4,000 matching pages, filters admit a few, none of which is among the first thousands.
  const last = (await find("w1 page filler", null)).slice(-12).map(({ row_id }) => row_id);
  const admitted = JSON.stringify([
    { column: { name: "id", kind: "uuid", type: "uuid", castType: "uuid" }, op: "in", value: last },
  ]);
  const target = { table: '"public"."pages"' };
  const page = (skipped: number) =>
    db.sql<{ id: string }>(
      `select id from svc.search_keyword($1, '{title,body}', 'w1 page filler', '{"corpus":"default","visibility":"public"}', $2, 10, $3)`,
      [JSON.stringify(target), admitted, skipped],
    );
  expect([...(await page(0)), ...(await page(10))].map(({ id }) => id)).toEqual(last);
});
