// If this file fails, a search shows, counts or hints at rows that its caller may not read.
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { addPages, type Page } from "./application.ts";

const db = database();
const owners = Array.from({ length: 100 }, (_, number) => `owner-${number}`);
const visibilities = ["private", "shared", "public"] as const;
const corpora = ["a", "b"];
const words = ["boat", "house", "harbour", "fee", "crane", "secret"];
const runs = Number(process.env.FUZZ_RUNS ?? 0) > 0 ? 20_000 : 2_000;
let rows: (Page & { id: string })[];

const target = {
  table: '"public"."pages"',
  id: "id",
  idType: "uuid",
  language: "english",
  corpus: "corpus",
  visibility: "visibility",
  owner: "user_id",
};
const rankColumn = { name: "rank", type: "integer", kind: "integer", array: false, values: null };

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
      })),
    ),
  );
  const ids = await addPages(db, pages);
  rows = pages.map((page, place) => ({ ...page, id: ids[place] ?? "" }));
});

test("nobody finds a row, or reads a snippet, of others", { timeout: 1_800_000 }, async () => {
  const client = await db.connect("request");
  const input = fc.record({
    caller: fc.option(fc.constantFrom(...owners), { freq: 6 }),
    owner: fc.option(fc.constantFrom(...owners)),
    corpus: fc.constantFrom(...corpora),
    visibility: fc.constantFrom(...visibilities),
    query: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }),
    rank: fc.option(fc.nat(4)),
    limit: fc.integer({ min: 1, max: 100 }),
    offset: fc.nat(20),
    sample: fc.nat(587),
  });
  await fc.assert(
    fc.asyncProperty(input, async ({ caller, owner, corpus, visibility, query, rank, limit, offset, sample }) => {
      await client.query("begin read only");
      await client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [
        caller ?? "",
        caller ? "svc_authenticated" : "svc_anonymous",
      ]);
      // Straight into SQL: the database alone has to hold, whatever owner a scope names.
      const filters = rank === null ? [] : [{ column: rankColumn, op: "eq", value: rank }];
      const { rows: found } = await client.query(
        "select id from svc.search_keyword($1, '{title,body}', $2, $3, $4, $5, $6)",
        [
          JSON.stringify(target),
          query.join(" "),
          JSON.stringify({ corpus, visibility, owner }),
          JSON.stringify(filters),
          limit,
          offset,
        ],
      );
      // Snippets of what was found and of rows that were not: those that the caller may read, and no more.
      const asked = [...found.map(({ id }) => id), ...rows.slice(sample, sample + 12).map(({ id }) => id)];
      const { rows: snippets } = await client.query(
        "select id, parts from svc.search_snippets($1, '{title,body}', $2, $3, $4)",
        [JSON.stringify(target), query.join(" "), offset % 2 === 0, asked],
      );
      await client.query("rollback");
      const readable = new Set(
        rows
          .filter(
            (row) =>
              row.visibility === "public" ||
              (caller !== null && (row.visibility === "shared" || row.userId === caller)),
          )
          .map(({ id }) => id),
      );
      expect(snippets.map(({ id }) => id).toSorted()).toEqual(
        [...new Set(asked)].filter((id) => readable.has(id)).toSorted(),
      );
      const allowed = rows.filter(
        (row) =>
          row.corpus === corpus &&
          row.visibility === visibility &&
          (owner === null || row.userId === owner) &&
          (rank === null || row.rank === rank) &&
          (visibility === "public" || (caller !== null && (visibility === "shared" || row.userId === caller))) &&
          query.some((word) => `${row.title} ${row.body}`.split(" ").includes(word)),
      );
      const ids = new Set(allowed.map(({ id }) => id));
      expect(found.filter(({ id }) => !ids.has(id))).toEqual([]);
      expect(found).toHaveLength(Math.min(Math.max(allowed.length - offset, 0), limit));
    }),
    { numRuns: runs },
  );
});

test("the score of a private row stays what it was when others write about the same", async () => {
  const client = await db.connect("request");
  const scores = async () => {
    await client.query("begin read only");
    await client.query(
      "select set_config('svc.user_id', 'owner-1', true), set_config('role', 'svc_authenticated', true)",
    );
    const { rows: found } = await client.query(
      `select row_id, score from svc.find_matches('"public"."pages"', '{title,body}', 'boat house harbour fee crane secret', 'a', 'private', 10)`,
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
