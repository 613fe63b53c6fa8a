/**
 * Keyword search beside what PostgreSQL brings: `svc.find_matches()` against `ts_rank` over a GIN index, both for the best
 * ten of the same made-up texts, queries of common, mixed and rare words. Next hop: `sql/search/find_matches.sql`.
 *
 * Run: `node bench/search.ts [documents]`. (Default: 20,000)
 */
import { join } from "node:path";
import pg from "pg";
import { openCluster } from "../src/postgres/cluster.ts";
import { migrate } from "../src/postgres/migrate.ts";

const documents = Number(process.argv[2] ?? 20_000);
const root = join(import.meta.dirname, "..");
const cluster = await openCluster({ directory: join(root, ".svc"), name: "bench-search" });
try {
  const url = new URL(cluster.urls.admin);
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  await admin.query("drop database if exists bench_search");
  await admin.query("create database bench_search");
  await admin.end();
  url.pathname = "/bench_search";
  await migrate({ adminUrl: url.href, platform: root });
  const client = new pg.Client({ connectionString: url.href });
  client.on("error", () => {}); // the cluster stops before it, when something below fails
  await client.connect();

  // Zipf: word n is drawn about 1/n as often as the first one. 100 words a text, 50,000 different ones.
  await client.query(`
    create table texts (id integer primary key, body text, corpus text, visibility text, user_id text);
    insert into texts
    select d, (select string_agg('w' || floor(exp(random() * ln(50000)))::integer, ' ') from generate_series(1, 100) where d > 0),
           'bench', 'public', 'ann'
      from generate_series(1, ${documents}) as d;
    alter table texts add words tsvector generated always as (to_tsvector('simple', body)) stored;
    create index on texts using gin (words)`);
  await client.query("vacuum analyze texts");
  const declared = { table: '"public"."texts"', id: "id", fields: ["body"], language: "simple" };
  const scope = { corpus: "corpus", visibility: "visibility", owner: "user_id" };
  const begun = performance.now();
  await client.query("select svc_private.install_search($1)", [JSON.stringify([{ ...declared, ...scope }])]);
  const seconds = (performance.now() - begun) / 1000;
  await client.query("vacuum analyze");
  const { rows } = await client.query(
    `select pg_size_pretty(pg_total_relation_size('svc_private.search_postings')) as postings,
            pg_size_pretty(pg_total_relation_size('texts')) as texts`,
  );
  console.log(
    `${documents} documents indexed in ${seconds.toFixed(1)} s (${(documents / seconds).toFixed(0)}/s); `,
    rows[0],
  );

  const bands = {
    common: ["w1 w2", "w3 w5 w8"],
    mixed: ["w2 w900 w20000", "w1 w3 w5000"],
    rare: ["w30000 w45000", "w9000 w12345"],
  };
  for (const [band, queries] of Object.entries(bands)) {
    const bm25 = await time(queries, (query) =>
      client.query("select * from svc.find_matches('\"public\".\"texts\"', '{body}', $1, 'bench', 'public', 10)", [
        query,
      ]),
    );
    const rank = await time(queries, (query) =>
      client.query(
        `select id, ts_rank(words, q, 1) from texts, to_tsquery('simple', $1) q where words @@ q order by 2 desc limit 10`,
        [query.replaceAll(" ", "|")],
      ),
    );
    console.log(
      `${band}: BM25 ${bm25.toFixed(1)} ms, ts_rank ${rank.toFixed(1)} ms, ratio ${(rank / bm25).toFixed(2)}`,
    );
  }
  await client.end();
} finally {
  await cluster.stop();
}

/** @returns milliseconds for one query, the median of 20 rounds */
async function time(queries: string[], run: (query: string) => Promise<unknown>): Promise<number> {
  const rounds: number[] = [];
  for (let round = 0; round < 20; round++) {
    const begun = performance.now();
    for (const query of queries) await run(query);
    rounds.push((performance.now() - begun) / queries.length);
  }
  return rounds.sort((a, b) => a - b)[10] ?? 0;
}
