/**
 * The passages that `bench/search.ts` searches: 100 words each, two runs of 50 from the judged collections, cut at random
 * places, the same in every run. Their vectors are sums of made-up vectors of words, whose dimensions weigh less and less
 * as those of real embeddings do once they are rotated: they measure time and recall, no meaning.
 */
import type pg from "pg";
import { judged } from "../../tests/search/corpora.ts";

const dimensions = 64;
const batch = 2_000;

/** Fills the table `passages`, with a GIN index over a `tsvector` and without an index of ours. */
export async function loadPassages(client: pg.Client, folder: string, count: number): Promise<void> {
  const sources = ["cranfield", "scifact-train"].flatMap((set) => judged(folder, set).docs.map(({ text }) => text));
  const words = sources.join(" ").split(/\s+/);
  const random = generator(7);
  await client.query(
    `create table passages (id integer primary key, body text, embedding vector(${dimensions}), corpus text default 'bench',
       visibility text default 'public', user_id text default 'ann',
       words tsvector generated always as (to_tsvector('english', body)) stored)`,
  );
  for (let first = 0; first < count; first += batch) {
    const texts = Array.from({ length: Math.min(batch, count - first) }, () => {
      const [a, b] = [0, 0].map(() => Math.floor(random() * (words.length - 50)));
      return [...words.slice(a, (a ?? 0) + 50), ...words.slice(b, (b ?? 0) + 50)].join(" ");
    });
    await client.query(
      "insert into passages (id, body, embedding) select $1 + place, body, e::vector from unnest($2::text[], $3::text[]) with ordinality as p (body, e, place)",
      [first, texts, texts.map(vectorOf)],
    );
  }
  await client.query("create index on passages using gin (words)");
  await client.query("analyze passages");
}

const known = new Map<string, Float32Array>();

/** The vector of a passage or a query, as pgvector reads it. */
export function vectorOf(text: string): string {
  const sum = new Float32Array(dimensions);
  for (const word of text.toLowerCase().split(/[^a-z0-9]+/)) {
    if (word.length < 4) continue; // so that not all texts are alike
    let vector = known.get(word);
    if (!vector) {
      const random = generator([...word].reduce((seed, letter) => (seed * 31 + letter.charCodeAt(0)) >>> 0, 17));
      vector = sum.map((_, place) => (random() - 0.5) / Math.sqrt(place + 1));
      known.set(word, vector);
    }
    for (let place = 0; place < dimensions; place++) sum[place] = (sum[place] ?? 0) + (vector[place] ?? 0);
  }
  return `[${Array.from(sum, (value) => Math.round(value * 1e4) / 1e4).join(",")}]`;
}

/** Numbers from 0 to 1, the same in every run. */
export function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
