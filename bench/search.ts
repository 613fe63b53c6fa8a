/**
 * Search beside what one would write by hand: two legs, `ts_rank` over a GIN index and pgvector's HNSW, fused by RRF, and
 * the vector leg alone. Then keyword search as a call of the service, beside its own statement. Queries are rotated over three bands
 * of how common their words are. Next hops: `search/passages.ts` makes the passages, `sql/search/search_hybrid.sql` answers,
 * `search/calls.ts` calls.
 *
 * Run: `npm run bench -- search [--chunks 1000000] [--rounds 60]`. (Default: 20,000 passages, 36 rounds for each band.)
 * A million takes an hour or more on two cores, most of it HNSW, and some 6 GB until the database is dropped again.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { openCluster } from "../src/cluster/open-cluster.ts";
import { migrate } from "../src/migrate/migrate.ts";
import { corporaFolder } from "../tests/search/corpora.ts";
import { alternate, median } from "./measure.ts";
import { compareCalls } from "./search/calls.ts";
import { generator, loadPassages, vectorOf } from "./search/passages.ts";

const root = join(import.meta.dirname, "..");
const table = '"public"."passages"';
const scope = JSON.stringify({ corpus: "bench", visibility: "public" });
const names = { corpus: "corpus", visibility: "visibility", owner: "user_id" };
const target = JSON.stringify({ table });
const tuning = JSON.stringify({
  keywordCandidateLimit: 100,
  vectorCandidateLimit: 100,
  mode: "convex",
  k: 60,
  keywordWeight: 1,
  vectorWeight: 1,
});

export async function run(): Promise<void> {
  const folder = corporaFolder();
  if (!folder) return console.info("search: skipped, there is no shared/corpora above this project");
  const { values } = parseArgs({
    allowPositionals: true,
    options: { chunks: { type: "string", default: "20000" }, rounds: { type: "string", default: "36" } },
  });
  const [chunks, rounds] = [Number(values.chunks), Number(values.rounds)];
  const settings = { shared_buffers: "2GB", maintenance_work_mem: "1GB", max_wal_size: "8GB" };
  const cluster = await openCluster({ directory: join(root, ".svc"), name: "bench-search", settings });
  try {
    const { admin, client } = await freshDatabase(cluster.urls.admin);
    const loaded = await seconds(() => loadPassages(client, folder, chunks));
    console.info(`\n${chunks} passages: written in ${loaded.toFixed(0)} s, with a GIN index over tsvector`);
    await index(client, chunks);
    const asked = await bands(client);
    await compareAll(client, asked, rounds);
    await compareCalls(cluster, client, asked, `${rankLeg} limit 10`);
    await hostile(client);
    await ingest(client);
    await client.end();
    await admin.query("drop database bench_search");
    await admin.end();
  } finally {
    await cluster.stop();
  }
}

async function freshDatabase(adminUrl: string): Promise<{ admin: pg.Client; client: pg.Client }> {
  const url = new URL(adminUrl);
  const admin = new pg.Client({ connectionString: url.href });
  admin.on("error", () => {}); // the cluster stops before it, when something below fails
  await admin.connect();
  await admin.query("drop database if exists bench_search");
  await admin.query("create database bench_search");
  url.pathname = "/bench_search";
  await migrate({ adminUrl: url.href, platform: root });
  const client = new pg.Client({ connectionString: url.href });
  client.on("error", () => {});
  await client.connect();
  await client.query("set search_path = public, extensions; set hnsw.ef_search = 300");
  return { admin, client };
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1_000;
}

/** Says each step as it ends: of a million passages they take long. */
async function index(client: pg.Client, chunks: number): Promise<void> {
  // Parallel workers do not find pgvector where Debian's extension_destdir holds it.
  await client.query("set max_parallel_maintenance_workers = 0");
  const nearest = await seconds(() =>
    client.query("create index passages_embedding_nearest on passages using hnsw (embedding vector_cosine_ops)"),
  );
  console.info(`HNSW in ${nearest.toFixed(0)} s`);
  const declared = [{ table, id: "id", fields: ["body"], language: "english", ...names }];
  const keyword = await seconds(() =>
    client.query("select svc_private.install_search($1)", [JSON.stringify(declared)]),
  );
  await client.query("vacuum analyze");
  const { rows } = await client.query(`
    select pg_size_pretty(pg_total_relation_size('svc_private.search_documents') + pg_total_relation_size('svc_private.search_counters')) as keyword,
           pg_size_pretty(pg_relation_size('passages_words_idx')) as gin,
           round((pg_total_relation_size('svc_private.search_documents') + pg_total_relation_size('svc_private.search_counters'))::numeric
             / pg_relation_size('passages_words_idx'), 1)::text as keyword_to_gin,
           pg_size_pretty(pg_relation_size('passages_embedding_nearest')) as hnsw,
           pg_size_pretty(pg_table_size('passages')) as passages`);
  console.info(`indexed by words in ${keyword.toFixed(0)} s, ${(chunks / keyword).toFixed(0)}/s`, rows[0]);
}

/** Passages that are written one by one and ten by ten to the filled index, triggers and HNSW included. */
async function ingest(client: pg.Client): Promise<void> {
  for (const size of [1, 10]) {
    const begun = performance.now();
    for (let first = 0; first < 300; first += size) {
      await client.query(
        `insert into passages (id, body, embedding) select -id - $3::integer * 1000, body, embedding from passages where id > $1 and id <= $1 + $2`,
        [first, size, size],
      );
    }
    const rate = 300 / ((performance.now() - begun) / 1_000);
    console.info(`ingestion, ${size} in a statement: ${rate.toFixed(0)} passages a second`);
  }
}

/** Words by how many passages have them: in over 5 %, in 0.2 to 5 %, in less; the middle one takes a word of each. */
async function bands(client: pg.Client): Promise<Record<string, string[]>> {
  const { rows } = await client.query<{ term: string; share: number }>(
    `select term, sum(documents)::float / (select sum(documents) from svc_private.search_totals) as share
       from svc_private.search_counters where term ~ '^[a-z]{4,}$' group by term having sum(documents) > 1 order by 2 desc, 1`,
  );
  const of = (least: number, most: number) =>
    rows.filter(({ share }) => share >= least && share < most).map(({ term }) => term);
  const [common, middle, rare] = [of(0.05, 1), of(0.002, 0.05), of(0, 0.002)];
  const random = generator(11);
  const pick = (from: string[]) => from[Math.floor(random() * from.length)] ?? "";
  const times = (make: () => string[]) => Array.from({ length: 20 }, () => make().join(" "));
  return {
    common: times(() => [pick(common), pick(common)]),
    mixed: times(() => [pick(common), pick(middle), pick(rare)]),
    rare: times(() => [pick(rare), pick(rare)]),
  };
}

/** Queries of nothing but the commonest words: what no search may exceed by much. */
async function hostile(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ term: string }>(
    `select term from svc_private.search_counters where term ~ '^[a-z]{3,}$' group by term order by sum(documents) desc limit 250`,
  );
  const commonest = rows.map(({ term }) => term);
  const random = generator(5);
  for (const size of [4, 8, 12, 25, 60, 120, 250]) {
    const taken: number[] = [];
    for (let round = 0; round < 10; round++) {
      const pool = commonest.slice(0, size * (round < 5 ? 1 : 3));
      const query = Array.from({ length: size }, () => pool.splice(Math.floor(random() * pool.length), 1)[0]).join(" ");
      const begun = performance.now();
      await client.query("select * from svc.search_keyword($1, '{body}', $2, $3, '[]', 100, 0)", [
        target,
        query,
        scope,
      ]);
      taken.push(performance.now() - begun);
    }
    console.info(
      `${size} of the commonest words, best 100: median ${median(taken).toFixed(0)} ms, longest ${Math.max(...taken).toFixed(0)} ms`,
    );
  }
}

async function compareAll(client: pg.Client, asked: Record<string, string[]>, rounds: number): Promise<void> {
  const all = contestants.map((): number[] => []);
  for (const [band, queries] of Object.entries(asked)) {
    const taken = await compare(client, queries, rounds);
    print(band, taken);
    for (const [place, times] of taken.entries()) all[place]?.push(...times);
  }
  print("all bands", all);
  const found = await recall(
    client,
    Object.values(asked).flatMap((queries) => queries.slice(0, 10)),
  );
  console.info(`recall@10 of the vector leg ${found.toFixed(3)}`);
}

type Contestant = (client: pg.Client, query: string) => Promise<unknown>;

const contestants: Contestant[] = [
  (client, query) =>
    client.query("select * from svc.search_keyword($1, '{body}', $2, $3, '[]', 10, 0)", [target, query, scope]),
  (client, query) => client.query(`${rankLeg} limit 10`, [query.replaceAll(" ", "|")]),
  (client, query) =>
    client.query("select * from svc.search_hybrid($1, '{body}', $2, 'embedding', $3, $4, '[]', $5, 10, 0)", [
      target,
      query,
      vectorOf(query),
      scope,
      tuning,
    ]),
  (client, query) => client.query(handWritten, [query.replaceAll(" ", "|"), vectorOf(query)]),
  (client, query) => client.query("select id from passages order by embedding <=> $1 limit 100", [vectorOf(query)]),
];

/** @returns the times of each contestant in milliseconds: in a round, all of them take the same query */
async function compare(client: pg.Client, queries: string[], rounds: number): Promise<number[][]> {
  const taken = contestants.map((): number[] => []);
  let turn = -1;
  const calls = contestants.map((contestant, place) => async () => {
    if (place === 0) turn++;
    const begun = performance.now();
    await contestant(client, queries[turn % queries.length] ?? "");
    taken[place]?.push(performance.now() - begun);
  });
  await alternate(calls, rounds);
  return taken.map((times) => times.slice(-rounds)); // without the warm-up
}

function print(band: string, taken: number[][]): void {
  const mean = (times: number[] = []) => times.reduce((sum, time) => sum + time, 0) / times.length;
  const p95 = (times: number[] = []) => times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? Number.NaN;
  const [keyword, rank, hybrid, hand, vector] = taken;
  const both = (times: number[] | undefined) => `${median(times ?? []).toFixed(1)} (p95 ${p95(times).toFixed(1)}) ms`;
  console.info(
    `${band}: BM25 ${both(keyword)}, ts_rank ${both(rank)}, ratio of rates ${(mean(rank) / mean(keyword)).toFixed(2)}; ` +
      `hybrid ${both(hybrid)}, by hand ${both(hand)}, ratio ${(mean(hand) / mean(hybrid)).toFixed(2)}; ` +
      `vector alone ${both(vector)}, ratio ${(mean(vector) / mean(hybrid)).toFixed(2)}`,
  );
}

const rankLeg = `select id, ts_rank(words, q, 1) as score from passages, to_tsquery('english', $1) q where words @@ q order by 2 desc, 1`;
const handWritten = `
  with keyword as (select id, row_number() over (order by score desc) as rank from (${rankLeg} limit 100) as k),
       nearest as (select id, row_number() over (order by distance) as rank
                     from (select id, embedding <=> $2 as distance from passages order by embedding <=> $2 limit 100) as n)
  select id, coalesce(1.0 / (60 + k.rank), 0) + coalesce(1.0 / (60 + n.rank), 0) as score
    from keyword k full join nearest n using (id) order by 2 desc limit 10`;

/** Of the ten nearest, how many svc.search_vector() finds. */
async function recall(client: pg.Client, queries: string[]): Promise<number> {
  let found = 0;
  for (const query of queries) {
    const { rows } = await client.query("select id from svc.search_vector($1, 'embedding', $2, $3, '[]', 10, 0)", [
      target,
      vectorOf(query),
      scope,
    ]);
    await client.query("begin; set local enable_indexscan = off");
    const exact = await client.query("select id::text from passages order by embedding <=> $1 limit 10", [
      vectorOf(query),
    ]);
    await client.query("rollback");
    const ids = new Set(exact.rows.map(({ id }) => id));
    found += rows.filter(({ id }) => ids.has(id)).length;
  }
  return found / (10 * queries.length);
}
