// If this file fails, keyword search ranks worse than plain BM25.
import { describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { corporaFolder, judged, ndcg } from "./corpora.ts";

const db = database();
const folder = corporaFolder();
if (!folder) console.warn("skipped: there is no shared/corpora above this project");

describe.skipIf(!folder)("nDCG@10 is as far above that of BM25 with k1 = 0.9 and b = 0.4 as measured on", () => {
  const sets = [
    { set: "cranfield", language: "english", bm25: 0.366, least: 1.05 },
    { set: "scifact-train", language: "english", bm25: 0.696, least: 1 },
    { set: "korquad-dev", language: "simple", bm25: 0.957, least: 0.995 },
  ];
  test.for(sets)("$set", { timeout: 300_000 }, async ({ set, language, bm25, least }) => {
    const { docs, queries, relevant } = judged(folder ?? "", set);
    const table = `"public"."${set}"`;
    await db.sql(
      `create table ${table} (id text primary key, title text, body text, corpus text, visibility text, user_id text)`,
    );
    await db.sql(
      `insert into ${table} select d ->> 'id', d ->> 'title', d ->> 'text', 'set', 'public', 'ann'
         from jsonb_array_elements($1::jsonb) as d`,
      [JSON.stringify(docs)],
    );
    const scope = { corpus: "corpus", visibility: "visibility", owner: "user_id" };
    const declared = [{ table, id: "id", fields: ["title", "body"], language, ...scope }];
    const begun = performance.now();
    await db.sql("select svc_private.install_search($1, $2)", [JSON.stringify(declared), set]);
    const indexed = performance.now();

    let sum = 0;
    const asked = queries.filter(({ id }) => relevant.has(id));
    const left = [...asked];
    const ask = async () => {
      const client = await db.connect("admin");
      for (let query = left.pop(); query; query = left.pop()) {
        const { rows } = await client.query<{ row_ids: string[] }>(
          "select row_ids from svc_private.find_matches($1, '{title,body}', $2, 'set', 'public', null, 10)",
          [table, query.text],
        );
        sum += ndcg(rows[0]?.row_ids ?? [], relevant.get(query.id) ?? new Map());
      }
    };
    // Each connection keeps one core busy.
    await Promise.all([ask(), ask()]);
    const reached = sum / asked.length;
    const searched = performance.now() - indexed;
    console.info(
      `${set}: nDCG@10 ${reached.toFixed(4)}, BM25 ${bm25}; ${docs.length} documents indexed in ` +
        `${(indexed - begun).toFixed(0)} ms, ${(searched / asked.length).toFixed(1)} ms a query`,
    );
    expect(reached).toBeGreaterThanOrEqual(least * bm25);
  });
});
