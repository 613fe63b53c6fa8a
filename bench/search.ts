/**
 * Search beside what one would write by hand: two legs, `ts_rank` over a GIN index and pgvector's HNSW, fused by RRF, and
 * the vector leg alone. Passages of 100 words from the judged collections, cut at random places; queries over three bands
 * of how common their words are. Vectors are sums of made-up vectors of words: they measure time and recall, no meaning.
 * Next hop: `sql/search/search_hybrid.sql`.
 *
 * Run: `npm run bench -- search`, passages by `SEARCH_PASSAGES`. (Default: 20,000)
 */
import { join } from "node:path";
import pg from "pg";
import { openCluster } from "../src/postgres/cluster.ts";
import { migrate } from "../src/postgres/migrate.ts";
import { corporaFolder, judged } from "../tests/search/corpora.ts";
import { alternate } from "./measure.ts";

const dimensions = 64;
const root = join(import.meta.dirname, "..");
const table = '"public"."passages"';
const scope = JSON.stringify({ corpus: "bench", visibility: "public" });
const names = { corpus: "corpus", visibility: "visibility", owner: "user_id" };
const target = JSON.stringify({ table, id: "id", idType: "integer", ...names });
const tuning = JSON.stringify({
  keywordCandidateLimit: 100,
  vectorCandidateLimit: 100,
  mode: "rrf",
  k: 60,
  keywordWeight: 1,
  vectorWeight: 1,
});

export async function run(): Promise<void> {
  const folder = corporaFolder();
  if (!folder) return console.info("search: skipped, there is no shared/corpora above this project");
  const count = Number(process.env.SEARCH_PASSAGES ?? 20_000);
  const cluster = await openCluster({ directory: join(root, ".svc"), name: "bench-search" });
  try {
    const client = await freshDatabase(cluster.urls.admin);
    await measure(client, folder, count);
    await client.end();
  } finally {
    await cluster.stop();
  }
}

async function freshDatabase(adminUrl: string): Promise<pg.Client> {
  const url = new URL(adminUrl);
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
  await client.query("set search_path = public, extensions; set hnsw.ef_search = 100");
  return client;
}

async function measure(client: pg.Client, folder: string, count: number): Promise<void> {
  const random = generator(7);
  const sources = ["cranfield", "scifact-train"].flatMap((set) => judged(folder, set).docs.map(({ text }) => text));
  const words = sources.join(" ").split(/\s+/);
  await client.query(
    `create table passages (id integer primary key, body text, embedding vector(${dimensions}), corpus text default 'bench',
       visibility text default 'public', user_id text default 'ann',
       words tsvector generated always as (to_tsvector('english', body)) stored)`,
  );
  for (let first = 0; first < count; first += 1_000) {
    const texts = Array.from({ length: Math.min(1_000, count - first) }, () => {
      const [a, b] = [0, 0].map(() => Math.floor(random() * (words.length - 50)));
      return [...words.slice(a, (a ?? 0) + 50), ...words.slice(b, (b ?? 0) + 50)].join(" ");
    });
    await client.query(
      "insert into passages (id, body, embedding) select $1 + place, body, e::vector from unnest($2::text[], $3::text[]) with ordinality as p (body, e, place)",
      [first, texts, texts.map(vectorOf)],
    );
  }
  await client.query("create index on passages using gin (words); analyze passages");

  const declared = [{ table, id: "id", fields: ["body"], language: "english", ...names }];
  const begun = performance.now();
  await client.query("select svc_private.install_search($1)", [JSON.stringify(declared)]);
  const seconds = (performance.now() - begun) / 1_000;
  await client.query("vacuum analyze");
  const { rows: sizes } = await client.query(`
    select pg_size_pretty(pg_total_relation_size('svc_private.search_postings') + pg_total_relation_size('svc_private.search_counters')
             + pg_total_relation_size('svc_private.search_documents')) as keyword,
           pg_size_pretty((select sum(pg_relation_size(indexrelid)) from pg_index where indrelid = 'passages'::regclass)) as gin_and_hnsw,
           pg_size_pretty(pg_table_size('passages')) as passages`);
  console.info(
    `\n${count} passages indexed in ${seconds.toFixed(1)} s, HNSW included: ${(count / seconds).toFixed(0)}/s`,
    sizes[0],
  );

  for (const [band, queries] of Object.entries(await bands(client))) await compare(client, band, queries);
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
  const times = (make: () => string[]) => Array.from({ length: 12 }, () => make().join(" "));
  return {
    common: times(() => [pick(common), pick(common)]),
    mixed: times(() => [pick(common), pick(middle), pick(rare)]),
    rare: times(() => [pick(rare), pick(rare)]),
  };
}

async function compare(client: pg.Client, band: string, queries: string[]): Promise<void> {
  let turn = 0;
  const next = () => queries[turn++ % queries.length] ?? "";
  const keyword = (query: string) =>
    client.query("select * from svc.search_keyword($1, '{body}', $2, $3, '[]', 10, 0)", [target, query, scope]);
  const hybrid = (query: string) =>
    client.query("select * from svc.search_hybrid($1, '{body}', $2, 'embedding', $3, $4, '[]', $5, 10, 0)", [
      target,
      query,
      vectorOf(query),
      scope,
      tuning,
    ]);
  const rank = (query: string) => client.query(`${rankLeg} limit 10`, [query.replaceAll(" ", "|")]);
  const vector = (query: string) =>
    client.query(`select id from passages order by embedding <=> $1 limit 10`, [vectorOf(query)]);
  const byHand = (query: string) => client.query(handWritten, [query.replaceAll(" ", "|"), vectorOf(query)]);
  // Every contestant takes the same query in a round.
  const contestants = [keyword, rank, hybrid, byHand, vector];
  let query = next();
  const calls = contestants.map((contestant, place) => () => {
    if (place === 0) query = next();
    return contestant(query);
  });
  const [k = 0, r = 0, h = 0, m = 0, v = 0] = await alternate(calls, 36);
  console.info(
    `${band}: BM25 ${k.toFixed(1)} ms, ts_rank ${r.toFixed(1)} ms, ratio of rates ${(r / k).toFixed(2)}; ` +
      `hybrid ${h.toFixed(1)} ms, by hand ${m.toFixed(1)} ms, ratio ${(m / h).toFixed(2)}; vector alone ${v.toFixed(1)} ms, ` +
      `ratio ${(v / h).toFixed(2)}; recall@10 of the vector leg ${(await recall(client, queries)).toFixed(3)}`,
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

const known = new Map<string, number[]>();

function vectorOf(text: string): string {
  const sum = new Array<number>(dimensions).fill(0);
  for (const word of text.toLowerCase().split(/[^a-z0-9]+/)) {
    let vector = known.get(word);
    if (!vector) {
      const random = generator([...word].reduce((seed, letter) => (seed * 31 + letter.charCodeAt(0)) >>> 0, 17));
      vector = sum.map(() => random() - 0.5);
      known.set(word, vector);
    }
    for (const [place, value] of vector.entries()) sum[place] = (sum[place] ?? 0) + value;
  }
  return `[${sum.map((value) => value.toFixed(4)).join(",")}]`;
}

/** Numbers from 0 to 1, the same in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
