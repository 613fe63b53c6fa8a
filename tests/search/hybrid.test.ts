// If this file fails, hybrid search finds clearly less than keyword or vector search alone.
import { describe, expect, inject, test } from "vitest";
import { database } from "../support/database.ts";
import { corporaFolder, judged, ndcg } from "./corpora.ts";
import { type Counts, hashed, lsa } from "./lsa.ts";

const db = database();
const folder = corporaFolder();
if (!folder) console.warn("skipped: there is no shared/corpora above this project");
const isLong = Number(process.env.FUZZ_RUNS ?? 0) > 0;
// The defaults of ctx.hybridSearch.
const defaults = { keywordCandidateLimit: 100, vectorCandidateLimit: 100, k: 60, keywordWeight: 1, vectorWeight: 1 };

interface Fused {
  id: string;
  keyword: number | null;
  vector_score: number | null;
}

const sets = [
  { set: "cranfield", language: "english" },
  { set: "scifact-train", language: "english" },
  { set: "korquad-dev", language: "simple" },
];

describe.skipIf(!folder || !inject("vector"))(
  "hybrid search is at most 0.005 below its better leg, 0.01 with many hashed stems, on",
  () => {
    test.for(isLong ? sets : sets.slice(0, 1))("$set", { timeout: 900_000 }, async ({ set, language }) => {
      const { docs, queries, relevant } = judged(folder ?? "", set);
      const table = `"public"."${set}"`;
      await db.sql(`create table ${table} (id text primary key, title text, body text)`);
      await db.sql(
        `insert into ${table} select d ->> 'id', d ->> 'title', d ->> 'text' from jsonb_array_elements($1::jsonb) as d`,
        [JSON.stringify(docs)],
      );
      const target = { table, id: "id", corpus: null, visibility: null, owner: null, always: "public" };
      const declared = [{ ...target, fields: ["title", "body"], language }];
      await db.sql("select svc_private.install_search($1, $2)", [JSON.stringify(declared), set]);

      const indexed = await indexedTerms(table, language);
      const texts = [...indexed.values()];
      // Vectors of co-occurrence, and vectors that are nearly noise: the former are sometimes better than words.
      const kinds = { lsa: lsa(texts, 100), hashed: hashed(128), hashed_wide: hashed(1024) };
      for (const [kind, vectorOf] of Object.entries(kinds)) {
        const size = vectorOf(texts[0] as Counts).length;
        // Without an index, so that the nearest rows are exact. The triggers need not process unchanged texts again.
        await db.sql(`alter table ${table} disable trigger user, add column ${kind} extensions.vector(${size})`);
        await db.sql(
          `update ${table} t set ${kind} = e.vector::extensions.vector
           from unnest($1::text[], $2::text[]) as e (id, vector) where e.id = t.id`,
          [[...indexed.keys()], texts.map((terms) => JSON.stringify(vectorOf(terms)))],
        );
      }

      const withGrades = queries.filter(({ id }) => relevant.has(id));
      // A third of the queries, for time. `npm run fuzz` asks them all.
      const asked = isLong ? withGrades : withGrades.filter((_, at) => at % 3 === 0);
      const terms = await termsOf(
        asked.map(({ text }) => text),
        language,
      );
      for (const [kind, vectorOf] of Object.entries(kinds)) {
        const sums = { keyword: 0, vector: 0, convex: 0, rrf: 0 };
        for (const [at, { id, text }] of asked.entries()) {
          const found = async (mode: string) => {
            const values = [
              JSON.stringify({ table }),
              text,
              kind,
              JSON.stringify(vectorOf(terms[at] as Counts)),
              JSON.stringify({ ...defaults, mode }),
            ];
            return db.sql<Fused>(
              `select id, keyword, vector_score from svc.search_hybrid($1, '{title,body}', $2, $3, $4,
               '{"corpus":"default","visibility":"public"}', '[]', $5, 200, 0)`,
              values,
            );
          };
          const grades = relevant.get(id) ?? new Map();
          const gain = (items: Fused[]) =>
            ndcg(
              items.map((item) => item.id),
              grades,
            );
          const convex = await found("convex");
          const by = (leg: "keyword" | "vector_score") =>
            convex.filter((item) => item[leg] !== null).toSorted((a, b) => (b[leg] ?? 0) - (a[leg] ?? 0));
          sums.keyword += gain(by("keyword"));
          sums.vector += gain(by("vector_score"));
          sums.convex += gain(convex);
          if (isLong) sums.rrf += gain(await found("rrf"));
        }
        const [keyword = 0, vector = 0, convex = 0, rrf = 0] = Object.values(sums).map((sum) => sum / asked.length);
        console.info(
          `${set}: nDCG@10 keyword ${keyword.toFixed(4)}, ${kind} ${vector.toFixed(4)}, ` +
            `convex ${convex.toFixed(4)}${isLong ? `, rrf ${rrf.toFixed(4)}` : ""}; ${asked.length} queries`,
        );
        expect
          .soft(convex, kind)
          .toBeGreaterThanOrEqual(Math.max(keyword, vector) - (kind === "hashed_wide" ? 0.01 : 0.005));
      }
    });
  },
);

/** The terms of documents, by their ids. */
async function indexedTerms(table: string, language: string): Promise<Map<string, Counts>> {
  const rows = await db.sql<{ id: string; text: string }>(
    `select id, concat_ws(' ', title, body) as text from ${table} order by 1`,
  );
  const terms = await termsOf(
    rows.map(({ text }) => text),
    language,
  );
  return new Map(rows.map(({ id }, at) => [id, terms[at] as Counts]));
}

/** The terms of texts in the search index. */
async function termsOf(texts: string[], language: string): Promise<Counts[]> {
  const rows = await db.sql<{ terms: [string, number][] | null }>(
    `select (select json_agg(json_build_array(term, n)) from (
               select t.term, count(*) as n from svc_private.search_words(text) as word
                cross join lateral svc_private.search_terms(word, $2::regconfig) as t (term) group by 1
             ) as c) as terms
       from jsonb_array_elements_text($1::jsonb) with ordinality as x (text, place) order by place`,
    [JSON.stringify(texts), language],
  );
  return rows.map(({ terms }) => new Map(terms ?? []));
}
