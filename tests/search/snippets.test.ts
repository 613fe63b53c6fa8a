// If this file fails, a snippet shows text that the row does not have, or marks the wrong words.

import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { fc } from "../support/properties.ts";

const db = database();
type Parts = { text: string; match: boolean }[];
const samples = Number(process.env.FUZZ_RUNS ?? 0) > 0 ? 20_000 : 300;

/** Snippets of texts for queries, in one statement. */
async function snippets(asked: { content: string; query: string; prefix?: boolean }[]): Promise<Parts[]> {
  const rows = await db.sql<{ parts: Parts }>(
    `select s.parts from jsonb_array_elements($1::jsonb) with ordinality as a (asked, place)
      cross join lateral svc_hidden.search_snippet(asked ->> 'content', asked ->> 'query', coalesce((asked -> 'prefix')::boolean, false), 'english') as s
      order by place`,
    [JSON.stringify(asked)],
  );
  return rows.map(({ parts }) => parts);
}
const marked = (parts: Parts | undefined) => parts?.map(({ text, match }) => (match ? `[${text}]` : text)).join("");

test.for([
  ["a part of a Korean compound", "대한민국 서울특별시의 항구", "서울", "대한민국 [서울]특별시의 항구"],
  ["pairs that overlap", "東京都庁舎の北", "東京都", "[東京都]庁舎の北"],
  ["a run that is one character", "船 が港に", "船", "[船] が港に"],
  ["letters that touch characters", "svc검색 svc", "검색", "svc[검색] svc"],
  ["words beside characters", "The boats: 港に船", "boat 港に", "The [boats]: [港に]船"],
  ["full-width and half-width forms", "ＢＯＡＴ ｶﾞﾗｽ", "boat ガラス", "[ＢＯＡＴ] [ｶﾞﾗｽ]"],
  ["letters that compose, run by run", "서울특별시 항구".normalize("NFD"), "서울", "[서울특별시] 항구"],
] as const)("%s", async ([, content, query, expected]) => {
  const [parts] = await snippets([{ content, query }]);
  expect(marked(parts)?.normalize("NFC")).toBe(expected.normalize("NFC"));
});

test("a prefix marks the pairs that begin with the last character", async () => {
  const [parts] = await snippets([{ content: "서울특별시", query: "특", prefix: true }]);
  expect(marked(parts)).toBe("서울[특별]시");
});

test("the passage is around the match, however long the run in which it stands", async () => {
  const [parts] = await snippets([{ content: `${"一".repeat(3_000)}港町${"二".repeat(3_000)}`, query: "港町" }]);
  expect(marked(parts)).toMatch(/^一{10}\[港町\]二{68}$/);
});

test("shows what was written, and marks the pairs of the query and nothing else", async () => {
  const text = (maxLength: number) =>
    fc.array(fc.constantFrom("港", "町", "船", "が", "서", "울", " ", "。"), { maxLength }).map((all) => all.join(""));
  const asked = fc.sample(fc.record({ content: text(60), query: text(6) }), samples);
  const terms = (run: string) => (run.length === 1 ? [run] : [...run.slice(1)].map((_, at) => run.slice(at, at + 2)));
  for (const [at, parts] of (await snippets(asked)).entries()) {
    const { content, query } = asked[at] as (typeof asked)[0];
    const wanted = new Set(query.split(/[ 。]+/).flatMap(terms));
    // Run by run: which of its characters are in a pair of the query.
    const expected = content.replace(/[^ 。]+/g, (run) => {
      const hits = [...run].map((_, i) => wanted.has(run.slice(i, i + 2)) && (i + 1 < run.length || run.length === 1));
      const marks = [...run].map((one, i) => (hits[i] || hits[i - 1] ? `[${one}]` : one));
      return marks.join("").replaceAll("][", "");
    });
    expect(marked(parts)).toBe(expected.replace(/[ 。]+$/, ""));
  }
});

test("a page of long texts is looked at to an equal depth, and no further than a page may be", async () => {
  await db.sql("create table long_texts (id integer primary key, body text)");
  // Few but long words: the limit counts characters.
  await db.sql(
    "insert into long_texts select n, repeat(repeat('x', 999) || ' ', 90) || 'boat' from generate_series(1, 12) as n",
  );
  const target = JSON.stringify({ table: '"public"."long_texts"' });
  const declared = [
    { table: '"public"."long_texts"', id: "id", fields: ["body"], language: "english", always: "public" },
  ];
  await db.sql("select svc_private.install_search($1, 'long texts')", [JSON.stringify(declared)]);
  const found = async (ids: number) => {
    const keys = Array.from({ length: ids }, (_, n) => String(n + 1));
    const rows = await db.sql<{ parts: Parts }>(
      "select parts from svc.search_snippets($1, '{body}', 'boat', false, $2)",
      [target, keys],
    );
    return rows.filter(({ parts }) => parts.some(({ match }) => match)).length;
  };
  expect([await found(11), await found(12)]).toEqual([11, 0]);
});
