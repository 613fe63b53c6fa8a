// If this file fails, searches miss rows, show wrong ones, or answer mistakes with an unclear error.
import { beforeAll, describe, expect, inject, test } from "vitest";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";
import { addPages, api } from "./application.ts";
import { mistakes } from "./mistakes.ts";

const db = database();
const running = service(db, api);
const scope = { corpus: "default", visibility: "private" };
const hasVectors = inject("vector") !== null;
let ann: User;
let bob: User;

beforeAll(async () => {
  ann = await running.signUp("ann");
  bob = await running.signUp("bob");
  const vectors = ["[1,0,0]", "[0.9,0.1,0]", "[0,1,0]", "[0,0,1]"];
  const texts = [
    { title: "Mooring fees", body: "Every boat pays twelve euros a night.", rank: 1 },
    { title: "Opening hours", body: "The office opens at eight. Boats may come and go.", rank: 2 },
    { title: "Boat house", body: "The boats of members stay in the boat house.", rank: 3 },
    { title: "항구 안내", body: "서울특별시의 항구", rank: 4 },
  ];
  await addPages(
    db,
    texts.map((text, place) => ({ userId: ann.id, ...text, ...(hasVectors && { embedding: vectors[place] ?? "" }) })),
  );
  await addPages(db, [
    { userId: bob.id, title: "Boats of Bob", body: "boat boat boat" },
    { userId: bob.id, title: "Shared boats", visibility: "shared" },
    { userId: ann.id, title: "Shared boat house", visibility: "shared" },
    { userId: bob.id, title: "Public boats", visibility: "public" },
    { userId: ann.id, title: "Another corpus of boats", corpus: "other" },
  ]);
});

const search = async (query: string, more: object = {}, user: User | null = ann) => {
  const { status, body } = await running.query(user, "pages.search", { query, scope, ...more });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.json;
};
const titles = async (query: string, more: object = {}, user: User | null = ann): Promise<string[]> =>
  (await search(query, more, user)).items.map(({ row }: { row: { title: string } }) => row.title);

test("a search ranks the caller's rows by their words, whatever their form", async () => {
  const { items, meta } = await search("boat houses");
  expect(items.map(({ row }: { row: { title: string } }) => row.title)).toEqual([
    "Boat house",
    expect.any(String),
    expect.any(String),
  ]);
  expect(items[0]).toEqual({
    id: items[0].row.id,
    row: expect.objectContaining({ userId: ann.id, title: "Boat house", rank: 3 }),
    score: items[0].scores.fused,
    scores: { keyword: items[0].score, fused: items[0].score },
    matchedBy: ["keyword"],
  });
  expect(items[0].row).not.toHaveProperty("embedding");
  expect(meta).toEqual({ mode: "keyword", ...scope, limit: 10, offset: 0 });
});

test("only the named fields are searched", async () => {
  expect(await titles("boat", { fields: ["title"] })).toEqual(["Boat house"]);
  expect((await titles("boat", { fields: ["body"] })).toSorted()).toEqual([
    "Boat house",
    "Mooring fees",
    "Opening hours",
  ]);
});

test("a filter by null leaves out rows with a value: so an application hides rows that it removed softly", async () => {
  const ids = await addPages(db, [
    { userId: ann.id, title: "A pelican" },
    { userId: ann.id, title: "A removed pelican", rank: 1 },
  ]);
  expect((await titles("pelican")).toSorted()).toEqual(["A pelican", "A removed pelican"]);
  expect(await titles("pelican", { filters: { rank: null } })).toEqual(["A pelican"]);
  await db.sql("delete from pages where id = any ($1)", [ids]);
});

test("limit and offset part the same order", async () => {
  const all = await titles("boat");
  expect(all).toHaveLength(3);
  expect(await titles("boat", { limit: 1 })).toEqual(all.slice(0, 1));
  expect(await titles("boat", { limit: 2, offset: 1 })).toEqual(all.slice(1));
});

test("a prefix finds what the last word may go on to be", async () => {
  expect(await titles("boa")).toEqual([]);
  expect(await titles("hous boa", { prefix: true })).toEqual(["Boat house", expect.any(String), expect.any(String)]);
  expect((await titles("the off", { prefix: true })).toSorted()).toEqual(["Opening hours"]);
  expect(await titles("boa hous", { prefix: true })).toEqual(["Boat house"]); // the last word alone is a beginning
});

test("a snippet shows the matching words of the field with most of them, and markup stays text", async () => {
  const [id] = await addPages(db, [
    {
      userId: ann.id,
      title: "Pictures",
      body: `${"filler ".repeat(300)}<img src=x onerror=alert(1)> The gull's Nests & gull nest`,
    },
  ]);
  const { items } = await search("nest gulls", { snippets: true });
  expect(items).toHaveLength(1);
  const { field, parts } = items[0].snippet;
  expect([items[0].id, field]).toEqual([id, "body"]);
  expect(parts.filter(({ match }: { match: boolean }) => match).map(({ text }: { text: string }) => text)).toEqual([
    "gull",
    "Nests",
    "gull",
    "nest",
  ]);
  expect(parts.map(({ text }: { text: string }) => text).join("")).toMatch(
    /onerror=alert\(1\)> The gull's Nests & gull nest$/,
  );
  expect((await search("nest"))?.items[0]).not.toHaveProperty("snippet");
  await db.sql("delete from pages where id = $1", [id]);
});

test("Korean is found by a part of a compound, also of one character that another one follows", async () => {
  expect(await titles("서울")).toEqual(["항구 안내"]);
  expect(await titles("항")).toEqual(["항구 안내"]);
  expect(await titles("별 없음")).toEqual(["항구 안내"]);
  expect(await titles("시 boat")).toContain("항구 안내");
  expect(await titles("구")).toEqual([]);
  // Each takes reading all terms that begin with it.
  const begun = "select svc_private.search_begun($1, true) as words";
  const [{ words } = { words: "" }] = await db.sql<{ words: string }>(begun, ["가 나 다 라 가 마 바 사 아 자 차 boat"]);
  expect(words).toBe("boat 가 나 다 라 마 바 사");
});

describe("a filter admits rows by", () => {
  test.for([
    ["value", { rank: 3 }, ["Boat house"]],
    ["eq", { rank: { eq: 1 } }, ["Mooring fees"]],
    ["in", { rank: { in: [1, 2] } }, ["Mooring fees", "Opening hours"]],
    ["range", { rank: { range: { gt: 1, lte: 3 } } }, ["Boat house", "Opening hours"]],
    ["two columns", { rank: { range: { gte: 2 } }, title: "Boat house" }, ["Boat house"]],
  ] as const)("%s", async ([, filters, expected]) => {
    expect((await titles("boat", { filters })).toSorted()).toEqual(expected);
  });
});

describe("a scope", () => {
  test("private means the caller, with and without the caller's own id", async () => {
    const scoped = { scope: { ...scope, ownerUserId: bob.id } };
    expect(await titles("boat", {}, bob)).toEqual(["Boats of Bob"]);
    expect(await titles("boat", scoped, bob)).toEqual(["Boats of Bob"]);
  });
  test("shared is found by whoever is signed in, public by anyone", async () => {
    const shared = { scope: { corpus: "default", visibility: "shared" } };
    const open = { scope: { corpus: "default", visibility: "public" } };
    expect((await titles("boat", shared)).toSorted()).toEqual(["Shared boat house", "Shared boats"]);
    expect(await titles("boat", { scope: { ...shared.scope, ownerUserId: ann.id } })).toEqual(["Shared boat house"]);
    expect(await titles("boat", open, null)).toEqual(["Public boats"]);
  });
  test.for([
    ["without a corpus", { visibility: "private" }, 400, "scope.corpus"],
    ["without a visibility", { corpus: "default" }, 400, "scope.visibility"],
    ["with an unknown visibility", { corpus: "default", visibility: "secret" }, 400, "scope.visibility"],
    ["that is missing", undefined, 400, "scope.corpus"],
    ["of another owner", { ...scope, ownerUserId: "somebody else" }, 403, "another user"],
  ] as const)("%s is refused", async ([, given, expected, named]) => {
    const { status, body } = await running.query(ann, "pages.search", { query: "boat", scope: given });
    expect([status, body.error]).toEqual([expected, expect.stringContaining(named)]);
  });
  test("private or shared needs a session", async () => {
    for (const visibility of ["private", "shared"]) {
      const answer = await running.query(null, "pages.search", { query: "boat", scope: { ...scope, visibility } });
      expect(answer.status).toBe(401);
    }
  });
});

describe("a mistake is a 400 that says what to give:", () => {
  test.for(mistakes)("%s: %s", async ([name, named, given]) => {
    const { status, body } = await running.query(ann, `pages.${name}`, { query: "boat", scope, ...given });
    expect([status, body.error]).toEqual([400, expect.stringContaining(named)]);
  });
});

describe.skipIf(!hasVectors)("with vectors", () => {
  const call = async (name: string, options: object) => {
    const { status, body } = await running.query(ann, `pages.${name}`, { scope, ...options });
    expect([status, body.error]).toEqual([200, undefined]);
    return body.json.items;
  };

  test("the nearest rows come first, with their similarity", async () => {
    const items = await call("vectorSearch", { vector: [1, 0, 0], vectorField: "embedding", limit: 2 });
    expect(items).toMatchObject([
      { row: { title: "Mooring fees" }, score: 1, scores: { vector: 1, fused: 1 }, matchedBy: ["vector"] },
      { row: { title: "Opening hours" }, score: expect.closeTo(0.9939, 3) },
    ]);
    expect(items[0].scores).not.toHaveProperty("keyword");
  });

  test("a filter leaves no fewer rows than there are", async () => {
    const items = await call("vectorSearch", { vector: [1, 0, 0], filters: { rank: { range: { gte: 3 } } } });
    expect(items.map(({ row }: { row: { rank: number } }) => row.rank).toSorted()).toEqual([3, 4]);
  });

  test("a vector of zeros has no direction, is near to nothing, and disturbs no scores", async () => {
    const [id] = await addPages(db, [{ userId: ann.id, title: "Boat of nowhere", embedding: "[0,0,0]" }]);
    const nearest = await call("vectorSearch", { vector: [1, 0, 0] });
    expect(nearest.map((item: { score: number }) => item.score)).toEqual(Array(4).fill(expect.any(Number)));
    const vector = [0.9, 0.5, 0.3];
    for (const tuning of [{}, { vectorCandidateLimit: 2 }]) {
      const fused = await call("hybridSearch", { query: "boat", vector, tuning });
      for (const { score } of fused) expect(score).toEqual(expect.any(Number));
      const item = fused.find((one: { id: string }) => one.id === id);
      expect(item.matchedBy).toEqual(["keyword"]);
    }
    await db.sql("delete from pages where id = $1", [id]);
  });

  test("rrf adds up the reciprocal ranks of both legs", async () => {
    const keyword = await call("search", { query: "boat house" });
    const nearest = await call("vectorSearch", { vector: [0.2, 1, 0.1] });
    const rank = (items: { id: string }[], id: string) => items.findIndex((item) => item.id === id) + 1;
    const tuning = { fusion: { mode: "rrf" } };
    const fused = await call("hybridSearch", { query: "boat house", vector: [0.2, 1, 0.1], tuning });
    expect(fused).toHaveLength(4);
    for (const { id, score, matchedBy } of fused) {
      const legs = [rank(keyword, id), rank(nearest, id)].filter((one) => one > 0);
      expect(score).toBeCloseTo(
        legs.reduce((sum, one) => sum + 1 / (60 + one), 0),
        12,
      );
      expect(matchedBy).toHaveLength(legs.length);
    }
  });

  test("convex keeps the distances, counts words more, and is the default", async () => {
    const keyword = await call("search", { query: "boat house" });
    const nearest = await call("vectorSearch", { vector: [0.2, 1, 0.1] });
    const shares = (items: { id: string; score: number }[], zero: number) => {
      const best = items[0]?.score ?? 0;
      return new Map(items.map(({ id, score }) => [id, ((score - zero) / (best - zero)) ** 3]));
    };
    const legs = [shares(keyword, 0), shares(nearest, nearest.at(-1).score)] as const;
    // The vectors found every row that the words found.
    const [forKeyword, forVector] = [1, 0.15];
    const fused = await call("hybridSearch", { query: "boat house", vector: [0.2, 1, 0.1] });
    expect(fused).toHaveLength(4);
    for (const { id, score } of fused) {
      const both = forKeyword * (legs[0].get(id) ?? 0) + forVector * (legs[1].get(id) ?? 0);
      expect(score).toBeCloseTo(both / (forKeyword + forVector), 12);
    }
    const tuning = { fusion: { mode: "convex" } };
    expect(await call("hybridSearch", { query: "boat house", vector: [0.2, 1, 0.1], tuning })).toEqual(fused);
  });

  test("vectors count by how far the nearest stand out from texts that only the words found", async () => {
    const vector = [0.9, 0.5, 0.3];
    const keyword = await call("search", { query: "boat house" });
    const all = await call("vectorSearch", { vector });
    const nearest = all.slice(0, 2);
    const others = keyword.filter((item: { id: string }) => !nearest.some(({ id }: { id: string }) => id === item.id));
    const zero =
      others.reduce((sum: number, { id }: { id: string }) => {
        return sum + all.find((item: { id: string }) => item.id === id).score;
      }, 0) / others.length;
    const [best, worst] = nearest.map(({ score }: { score: number }) => score - zero);
    const contrast = best / Math.max(worst, (best - worst) / 10) / (keyword[0].score / keyword.at(-1).score);
    const trust = Math.min(1, 0.15 * contrast ** 1.5);
    expect(trust).toBeLessThan(0.9);

    // Whether words found the nearest too decides what is added.
    const fused = await call("hybridSearch", { query: "boat house", vector, tuning: { vectorCandidateLimit: 2 } });
    const found = keyword.find(({ id }: { id: string }) => id === nearest[0].id)?.score ?? 0;
    const words = (found / keyword[0].score) ** 3;
    const score = fused.find(({ id }: { id: string }) => id === nearest[0].id).score;
    expect(score).toBeCloseTo((words + trust) / (1 + trust), 10);
  });

  test("a weight of zero silences a leg, and a leg that finds nothing says nothing", async () => {
    const nearest = await call("vectorSearch", { vector: [1, 0, 0] });
    const ids = (items: { id: string }[]) => items.map(({ id }) => id);
    const silent = { fusion: { weights: { keyword: 0 } } };
    const items = await call("hybridSearch", { query: "boat house", vector: [1, 0, 0], tuning: silent });
    expect(items[0]).toMatchObject({ row: { title: "Mooring fees" }, score: 1 });
    expect(ids(items).slice(0, 2)).toEqual(ids(nearest).slice(0, 2));
    const unknown = await call("hybridSearch", { query: "nowhere", vector: [1, 0, 0] });
    expect(ids(unknown).slice(0, 2)).toEqual(ids(nearest).slice(0, 2));
    expect(unknown[0].score).toBe(1);
  });

  test("candidate limits bound each leg", async () => {
    const tuning = { keywordCandidateLimit: 1, vectorCandidateLimit: 1 };
    const items = await call("hybridSearch", { query: "boat house", vector: [0, 0, 1], tuning });
    expect(items.map(({ matchedBy }: { matchedBy: string[] }) => matchedBy[0]).toSorted()).toEqual([
      "keyword",
      "vector",
    ]);
  });
});
