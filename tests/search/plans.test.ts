// If this file fails, a search reads the whole index instead of a part, and gets slower with every row.
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
let client: pg.Client;
beforeAll(async () => {
  client = await db.connect("admin");
  // One transaction that never ends: statistics stay empty, so the planner takes the index for empty.
  await client.query("begin");
  await client.query("create table planned (id integer primary key, body text)");
  const declared = [{ table: '"public"."planned"', id: "id", fields: ["body"], language: "english", always: "public" }];
  await client.query("select svc_private.install_search($1)", [JSON.stringify(declared)]);
  // Words that occur in a half, a third, … of the notes, some of them several times.
  await client.query(
    `insert into planned
     select p, string_agg(repeat('word' || n || ' ', 1 + abs(hashint4(p + n)) % 20 / 17), ' ')
       from generate_series(1, 6000) as p, generate_series(1, 300) as n
      where n = 1 or hashint4(p * 1000 + n) % n = 0
      group by p`,
  );
});

const read = async () => {
  const { rows } = await client.query<{ scanned: number; documents: number; counters: number }>(
    `select sum(pg_stat_get_xact_tuples_returned(oid)) filter (where relname in ('search_documents', 'search_counters'))::integer as scanned,
            sum(pg_stat_get_xact_tuples_fetched(oid)) filter (where relname = 'search_documents')::integer as documents,
            sum(pg_stat_get_xact_tuples_returned(oid)) filter (where relname = 'search_counters_term')::integer as counters
       from pg_class where relnamespace = 'svc_private'::regnamespace`,
  );
  return rows[0] ?? { scanned: -1, documents: -1, counters: -1 };
};

const find = async (query: string, wanted: number | null) => {
  const { rows } = await client.query<{ row_id: string; score: number }>(
    `select row_id, score from svc_private.find_matches($1, '{body}', $2, 'default', 'public', null, $3) as m,
            unnest(m.row_ids, m.scores) as u (row_id, score)`,
    ['"public"."planned"', query, wanted],
  );
  return rows;
};
const search = async (query: string) => {
  const before = await read();
  const rows = await find(query, 10);
  const after = await read();
  return {
    rows,
    found: rows.length,
    scanned: after.scanned - before.scanned,
    documents: after.documents - before.documents,
    counters: after.counters - before.counters,
  };
};

test("what is read does not depend on the planner's statistics, nor grow with the matches", async () => {
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
});

test("however many rows might be among the best, so many are opened and no more, and good ones are found", async () => {
  const words = Array.from({ length: 250 }, (_, n) => `word${n + 1}`);
  const { rows, documents } = await search(words.join(" "));
  expect(rows).toHaveLength(10);
  expect(documents).toBeLessThan(3_500); // of 6,000
  // Few enough words at a time for all rows; a row's score is the sum over them.
  const scores = new Map<string, number>();
  for (let first = 0; first < words.length; first += 50) {
    for (const { row_id, score } of await find(words.slice(first, first + 50).join(" "), null)) {
      scores.set(row_id, (scores.get(row_id) ?? 0) + score);
    }
  }
  const best = [...scores.values()].toSorted((a, b) => b - a);
  for (const [place, { row_id, score }] of rows.entries()) {
    expect(score).toBeCloseTo(scores.get(row_id) ?? -1, 9);
    expect(score).toBeGreaterThan(0.9 * (best[place] ?? 0));
  }
});

test("where many rows must be opened, only the rarest of many words count", async () => {
  const words = Array.from({ length: 200 }, (_, n) => `word${n + 1}`);
  const rows = Array.from({ length: 50 }, (_, n) => String(n + 1));
  // Repeated so often, they cost as much as 10,000 words: a hundred each.
  const score = async (from: number, times: number) => {
    const among = Array.from({ length: times }, () => rows).flat();
    const { rows: found } = await client.query(
      "select row_ids, scores from svc_private.find_matches($1, '{body}', $2, 'default', 'public', null, 10, false, $3)",
      ['"public"."planned"', words.slice(from).join(" "), among],
    );
    return found;
  };
  expect(await score(0, 200)).toEqual(await score(50, 200)); // the first fifty are the commonest
  expect(await score(0, 1)).not.toEqual(await score(50, 1));
});

test("words that never stand together are found, also where there are too many rows to open all", async () => {
  await client.query("insert into planned select 10000 + n, 'lone' || n % 100 from generate_series(1, 20000) as n");
  const { found, documents } = await search(Array.from({ length: 100 }, (_, n) => `lone${n}`).join(" "));
  expect(found).toBe(10);
  expect(documents).toBeLessThan(12_000); // of 20,000
});

test("under a policy, found rows are read by their keys", async () => {
  await client.query(`
    alter table planned enable row level security;
    create policy select_some on planned for select to svc_authenticated using (body <> 'hidden' and id % 5 <> 0);
    grant select on planned to svc_authenticated`);
  const scanned = async () => {
    const { rows } = await client.query<{ n: string }>(
      "select pg_stat_get_xact_tuples_returned('planned'::regclass) as n",
    );
    return Number(rows[0]?.n);
  };
  // The table is small: for a hundred keys the planner would read it all.
  await client.query("set local enable_seqscan = off");
  // The last word begins more words than a search completes it to, so the index does not know all that match.
  for (const query of ["word40 word250", "lone"]) {
    const before = await scanned();
    await client.query("select set_config('svc.user_id', 'ann', true), set_config('role', 'svc_authenticated', true)");
    const { rows } = await client.query<{ id: string }>(
      "select id from svc.search_keyword($1, '{body}', $2, $3, '[]', 10, 0, true)",
      [
        JSON.stringify({ table: '"public"."planned"' }),
        query,
        JSON.stringify({ corpus: "default", visibility: "public" }),
      ],
    );
    await client.query("reset role");
    expect(rows).toHaveLength(10);
    expect([query, (await scanned()) - before]).toEqual([query, 0]); // of 26,000 rows
  }
});

test("a write and a search of one user's rows do not read the groups of all users", async () => {
  await client.query("create table owned (id integer primary key, body text, user_id text)");
  const scope = { visibility: "visibility", owner: "user_id", always: "private" };
  const declared = [
    { table: '"public"."owned"', id: "id", fields: ["body"], language: "english", ...scope, visibility: null },
  ];
  await client.query("select svc_private.install_search($1, 'owned')", [JSON.stringify(declared)]);
  await client.query("insert into owned select n, 'a private note', 'user' || n from generate_series(1, 2000) as n");
  const groups = async () => {
    const { rows } = await client.query<{ n: string }>(
      `select sum(pg_stat_get_xact_tuples_returned(oid)) as n from pg_class
        where relnamespace = 'svc_private'::regnamespace and relname like 'search_groups%'`,
    );
    return Number(rows[0]?.n);
  };
  const before = await groups();
  await client.query("insert into owned values (3000, 'another note', 'user7')");
  const { rows } = await client.query<{ row_ids: string[] }>(
    "select row_ids from svc_private.find_matches($1, '{body}', 'note', 'default', 'private', 'user7', 10)",
    ['"public"."owned"'],
  );
  expect(rows[0]?.row_ids.toSorted()).toEqual(["3000", "7"]);
  expect((await groups()) - before).toBeLessThan(20);
});
