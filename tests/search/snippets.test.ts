// If this file fails, a snippet shows text that the row does not have, or marks the wrong words.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { fc } from "../support/properties.ts";
import { corporaFolder, judged } from "./corpora.ts";

const db = database();
type Parts = { text: string; match: boolean }[];
const samples = Number(process.env.FUZZ_RUNS ?? 0) > 0 ? 20_000 : 100;

/** Snippets of texts for queries, in one statement. */
async function snippets(asked: { content: string; query: string; prefix?: boolean }[]): Promise<Parts[]> {
  const rows = await db.sql<{ parts: Parts }>(
    `select s.parts from jsonb_array_elements($1::jsonb) with ordinality as a (asked, place)
      cross join lateral svc_hidden.search_passages(array[asked ->> 'content'], asked ->> 'query', coalesce((asked -> 'prefix')::boolean, false), 'english') as s
      order by place`,
    [JSON.stringify(asked)],
  );
  return rows.map(({ parts }) => parts);
}
beforeAll(async () => {
  await db.sql(readFileSync(join(import.meta.dirname, "reference-snippet.sql"), "utf8"));
});
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

test.for([
  ["특", false, "서울[특별]시 port"],
  ["서 특", false, "[서울특별]시 port"],
  ["울특", true, "서[울특]별시 port"],
  ["특 po", false, "서울[특별]시 port"],
  ["특 po", true, "서울[특별]시 [port]"],
] as const)(
  "%s, by prefix: %s, marks the pairs that begin with a single character",
  async ([query, prefix, expected]) => {
    const [parts] = await snippets([{ content: "서울특별시 port", query, prefix }]);
    expect(marked(parts)).toBe(expected);
  },
);

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
    const words = query.split(/[ 。]+/).filter(Boolean);
    const wanted = new Set(words.flatMap(terms));
    const isWanted = (term: string) =>
      wanted.has(term) || words.some((word) => word.length === 1 && term.startsWith(word));
    // Run by run: which of its characters are in a pair of the query.
    const expected = content.replace(/[^ 。]+/g, (run) => {
      const hits = [...run].map((_, i) => isWanted(run.slice(i, i + 2)) && (i + 1 < run.length || run.length === 1));
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

/** Pages of texts: each has the passages that `reference_snippet` finds for its texts one by one. */
async function comparePages(
  pages: { contents: (string | null)[]; query: string; prefix: boolean; language: string }[],
) {
  const differing = await db.sql(
    `select page, place, content, r.matches, r.parts, s.matches as found, s.parts as shown
       from jsonb_array_elements($1::jsonb) as page
      cross join lateral (select array(select jsonb_array_elements_text(page -> 'contents')) as contents, page ->> 'query' as query,
                                 (page -> 'prefix')::boolean as prefix, page ->> 'language' as language) as p
      cross join lateral svc_hidden.search_passages(contents, query, prefix, language) as s (place, matches, parts)
      cross join lateral (select contents[place] as content) as c
      cross join lateral reference_snippet(content, query, prefix, language) as r
      where (s.matches, s.parts) is distinct from (r.matches, r.parts)`,
    [JSON.stringify(pages)],
  );
  expect(differing.slice(0, 3)).toEqual([]);
}

const languages = ["english", "simple", "german", "french", "russian"];

test("all texts of a page together have the passages that each has alone", async () => {
  const words = [
    "RNAs",
    "RNA",
    "rna",
    "pdfs",
    "PDF",
    "dns",
    "boats",
    "Boat",
    "boating",
    "the",
    "skies",
    "sky",
    "dying",
    "1e5",
  ];
  const others = [
    "größte",
    "Größe",
    "école",
    "лодки",
    "лодка",
    "ﬁsh",
    "fish",
    "½",
    "ＢＯＡＴＳ",
    "ｶﾞﾗｽ",
    "ガラス",
    "か\u309a",
    "\u3031",
    "\ufe0f",
  ];
  const characters = [
    "港",
    "町",
    "船",
    "が",
    "は\u3099",
    "서",
    "울",
    "서울".normalize("NFD"),
    "ㅎ",
    "𠀀",
    "・",
    "。",
    "々",
    "\u3099",
  ];
  const odd = [" ", " ", " ", "\n", "-", "\u0001", "'", "\\", "…", "x".repeat(250), "-".repeat(250), "ß".repeat(220)];
  const text = (maxLength: number) =>
    fc
      .array(fc.oneof(...[words, others, characters, odd].map((from) => fc.constantFrom(...from))), { maxLength })
      .map((all) => all.join(""));
  const spaced = (maxLength: number) =>
    fc.array(fc.constantFrom(...words, ...others, ...characters), { maxLength }).map((all) => all.join(" "));
  const any = (maxLength: number) => fc.oneof(text(maxLength), spaced(maxLength));
  const page = fc.record({
    contents: fc.array(fc.option(any(120)), { minLength: 1, maxLength: 5 }),
    query: any(5),
    prefix: fc.boolean(),
    language: fc.constantFrom(...languages),
  });
  await comparePages(fc.sample(page, samples));
});

const folder = corporaFolder();
const sets = [
  { set: "cranfield", language: "english" },
  { set: "scifact-train", language: "english" },
  { set: "korquad-dev", language: "simple" },
];
test.skipIf(!folder).for(sets)("so they have in $set", { timeout: 120_000 }, async ({ set, language }) => {
  const { docs, queries, relevant } = judged(folder ?? "", set);
  const texts = new Map(docs.map(({ id, text }) => [id, text.slice(0, 2_000)]));
  const pages = queries
    .filter(({ id }) => relevant.has(id))
    .slice(0, 60)
    .map(({ id, text: query }, at) => ({
      contents: [...(relevant.get(id)?.keys() ?? [])]
        .slice(0, 4)
        .map((doc) => texts.get(doc) ?? null)
        .concat(docs[at]?.text.slice(0, 2_000) ?? null),
      query,
      prefix: at % 4 === 0,
      language,
    }));
  await comparePages(pages);
});
