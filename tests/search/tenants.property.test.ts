// If this file fails, a search shows, counts or hints at rows that its caller may not read.

import { beforeAll, expect, inject, test } from "vitest";
import { database } from "../support/database.ts";
import { fc } from "../support/properties.ts";
import { addPages, type Page } from "./application.ts";
import { bm25 } from "./bm25.ts";

const db = database();
const owners = Array.from({ length: 100 }, (_, number) => `owner-${number}`);
const visibilities = ["private", "shared", "public"] as const;
const corpora = ["a", "b"];
const words = ["boat", "house", "harbour", "fee", "crane", "secret"];
const runs = Number(process.env.FUZZ_RUNS ?? 0) > 0 ? 20_000 : 200;
let rows: (Page & { id: string })[];

interface Found {
  id: string;
  keyword?: number | null;
  vector?: number | null;
}

const target = { table: '"public"."pages"' };
const rankColumn = { name: "rank", type: "integer", kind: "integer", array: false, values: null };
const modes = inject("vector") ? (["keyword", "vector", "hybrid"] as const) : (["keyword"] as const);
const tuning = { keywordCandidateLimit: 1_000, vectorCandidateLimit: 1_000, keywordWeight: 1, vectorWeight: 1, k: 60 };
const statements = {
  keyword: "select id, score as keyword from svc.search_keyword($1, '{title,body}', $2, $4, $5, $6, $7) where $3 <> ''",
  vector: "select id, score as vector from svc.search_vector($1, 'embedding', $3, $4, $5, $6, $7) where $2 <> ''",
  hybrid: `select id, keyword, vector_score as vector
             from svc.search_hybrid($1, '{title,body}', $2, 'embedding', $3, $4, $5, '${JSON.stringify({ ...tuning, mode: "convex" })}', $6, $7)`,
};

beforeAll(async () => {
  const pages = owners.flatMap((userId, owner) =>
    visibilities.flatMap((visibility, kind) =>
      corpora.map((corpus, place) => ({
        userId,
        visibility,
        corpus,
        rank: (owner + kind) % 5,
        title: words.filter((_, word) => (owner * 7 + kind * 3 + place + word * word) % 3 === 0).join(" "),
        body: words[(owner + kind + place) % words.length] ?? "",
        ...(modes.length > 1 && { embedding: `[${1 + (owner % 7)},${kind},${place - 0.5}]` }),
      })),
    ),
  );
  const ids = await addPages(db, pages);
  rows = pages.map((page, place) => ({ ...page, id: ids[place] ?? "" }));
});

test("nobody finds a row of others, reads a snippet of one, or sees it count in a score", {
  timeout: 1_800_000,
}, async () => {
  const client = await db.connect("request");
  const input = fc.record({
    mode: fc.constantFrom(...modes),
    caller: fc.option(fc.constantFrom(...owners), { freq: 6 }),
    owner: fc.option(fc.constantFrom(...owners)),
    corpus: fc.constantFrom(...corpora),
    visibility: fc.constantFrom(...visibilities),
    query: fc.uniqueArray(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }),
    rank: fc.option(fc.nat(4)),
    limit: fc.integer({ min: 1, max: 100 }),
    offset: fc.nat(20),
    sample: fc.nat(587),
  });
  await fc.assert(
    fc.asyncProperty(input, async ({ mode, caller, owner, corpus, visibility, query, rank, limit, offset, sample }) => {
      await client.query("begin read only");
      await client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [
        caller ?? "",
        caller ? "svc_authenticated" : "svc_anonymous",
      ]);
      // Directly in SQL: the database alone must protect the rows, whatever owner a scope names.
      const filters = rank === null ? [] : [{ column: rankColumn, op: "eq", value: rank }];
      const { rows: found } = await client.query<Found>(statements[mode], [
        JSON.stringify(target),
        query.join(" "),
        "[1,1,1]",
        JSON.stringify({ corpus, visibility, owner }),
        JSON.stringify(filters),
        limit,
        offset,
      ]);
      // Snippets for some found rows and for others: only those that the caller may read are returned.
      const asked = [...found.slice(0, 3).map(({ id }) => id), ...rows.slice(sample, sample + 3).map(({ id }) => id)];
      const { rows: snippets } = await client.query(
        "select id, parts from svc.search_snippets($1, '{title,body}', $2, $3, $4)",
        [JSON.stringify(target), query.join(" "), offset % 2 === 0, asked],
      );
      await client.query("rollback");

      const mayRead = (row: Page) =>
        row.visibility === "public" || (caller !== null && (row.visibility === "shared" || row.userId === caller));
      const readable = new Set(rows.filter(mayRead).map(({ id }) => id));
      expect(snippets.map(({ id }) => id).toSorted()).toEqual(
        [...new Set(asked)].filter((id) => readable.has(id)).toSorted(),
      );
      // All rows that may count in a score, and those of them that may be found.
      const group = rows.filter((row) => row.corpus === corpus && row.visibility === visibility && mayRead(row));
      const scores = bm25(new Map(group.map(({ id, title, body }) => [id, `${title} ${body}`])), query);
      const allowed = new Map(
        group
          .filter((row) => (owner === null || row.userId === owner) && (rank === null || row.rank === rank))
          .filter(({ id }) => mode !== "keyword" || scores.has(id))
          .map((row) => [row.id, row]),
      );
      expect(found.filter(({ id }) => !allowed.has(id))).toEqual([]);
      expect(found).toHaveLength(Math.min(Math.max(allowed.size - offset, 0), limit));
      for (const { id, keyword, vector } of found) {
        if (mode !== "vector" && typeof keyword === "number") expect(keyword).toBeCloseTo(scores.get(id) ?? -1, 9);
        if (mode !== "keyword") expect(vector).toBeCloseTo(similarity(allowed.get(id)?.embedding), 5);
      }
    }),
    { numRuns: runs },
  );
});

/** The similarity of a vector as text and the requested one. */
function similarity(text = "[]"): number {
  const vector: number[] = JSON.parse(text);
  return vector.reduce((sum, one) => sum + one, 0) / (Math.hypot(...vector) * Math.sqrt(3));
}

test("the score of a private row stays what it was when others write about the same", async () => {
  const client = await db.connect("request");
  const scores = async () => {
    await client.query("begin read only");
    await client.query(
      "select set_config('svc.user_id', 'owner-1', true), set_config('role', 'svc_authenticated', true)",
    );
    const { rows: found } = await client.query(
      `select id, score from svc.search_keyword('{"table":"\\"public\\".\\"pages\\""}', '{title,body}', 'boat house harbour fee crane secret',
         '{"corpus":"a","visibility":"private"}', '[]', 10, 0)`,
    );
    await client.query("rollback");
    return found;
  };
  const before = await scores();
  expect(before.length).toBeGreaterThan(0);
  await addPages(
    db,
    owners.slice(2).map((userId) => ({ userId, title: "boat crane", corpus: "a", visibility: "private" as const })),
  );
  expect(await scores()).toEqual(before);
});

test("requests cannot read the index, nor what is in it about others", async () => {
  const client = await db.connect("request");
  await client.query("begin");
  await client.query(
    "select set_config('svc.user_id', 'owner-1', true), set_config('role', 'svc_authenticated', true)",
  );
  await expect(client.query("select * from svc_private.search_documents")).rejects.toMatchObject({ code: "42501" });
  await client.query("rollback");
});
