// If this file fails, a question with a vector does not find the passage that says it in other words, finds one that the
// caller may not read, or an invalid vector is accepted.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";
import { api } from "./application.ts";

const db = database();
const running = service(db, api);
const scope = { corpus: "wards", visibility: "shared" };
let ann: User;
let bob: User;

// Three directions: healing people, guests, food.
const documents = {
  Wards: {
    markdown: "# Rounds\n\nA physician visits each ward twice a day.\n\n# Visits\n\nGuests may not stay after eight.",
    vectors: [
      [4, 0.5, 0],
      [0, 2, 0.1],
    ],
  },
  Kitchen: { markdown: "# Lunch\n\nLunch comes at noon, and no doctor orders it.", vectors: [[0, 0, 1]] },
};
beforeAll(async () => {
  ann = await running.signUp("ann");
  bob = await running.signUp("bob");
  for (const [title, { markdown, vectors }] of Object.entries(documents)) {
    const { status } = await running.mutate(ann, "docs.ingestWithVectors", {
      document: { title, markdown, scope },
      vectors,
    });
    expect(status).toBe(200);
  }
  const secret = { title: "Private", markdown: "A healer sees patients.", scope: { ...scope, visibility: "private" } };
  await running.mutate(bob, "docs.ingestWithVectors", { document: secret, vectors: [[1, 0, 0]] });
});

interface Found {
  sectionPath: string[];
  score: number;
  similarity?: number;
}
const search = async (query: string, more: object = {}, user = ann): Promise<Found[]> => {
  const { status, body } = await running.query(user, "docs.search", { query, scope, ...more });
  expect([status, body]).toMatchObject([200, {}]);
  return body.json;
};
const sections = async (...input: Parameters<typeof search>) =>
  (await search(...input)).map(({ sectionPath }) => sectionPath.join());

const query = "When does the doctor come?";
const healing = [0.9, 0.1, 0];

test("a passage in other words comes before one that has a word of the question and is about something else", async () => {
  expect(await sections(query)).toEqual(["Lunch"]);
  expect(await sections("When is the healer here?")).toEqual([]);
  const [best] = await search("When is the healer here?", { vector: healing });
  expect(best).toMatchObject({ sectionPath: ["Rounds"], score: 1 });
  expect(best?.similarity).toBeCloseTo(1, 2);
});

test("words and vector are added: who is best by both has 1, and everybody at most that, best first", async () => {
  const found = await search("A physician visits the ward", { vector: healing });
  expect(found[0]).toMatchObject({ sectionPath: ["Rounds"], score: 1 });
  expect(found).toHaveLength(3);
  const scores = found.map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((one, other) => other - one));
  for (const score of scores) expect(score).toBeGreaterThanOrEqual(0);
});

test("a question of stop words is answered by its vector alone", async () => {
  expect(await search("Where is it?")).toEqual([]);
  expect((await search("Where is it?", { vector: healing }))[0]).toMatchObject({ sectionPath: ["Rounds"], score: 1 });
});

test("a passage without words that are indexed is found by its vector", async () => {
  const dots = { corpus: "dots", visibility: "shared" };
  const document = { title: "The", text: "… it is.", scope: dots };
  await running.mutate(ann, "docs.ingestWithVectors", { document, vectors: [[1, 0, 0]] });
  expect(await search(query, { scope: dots, vector: healing })).toMatchObject([{ snippet: "… it is.", score: 1 }]);
});

test("no more come than were asked for, and only of the named documents", async () => {
  expect(await search(query, { vector: healing, limit: 1 })).toHaveLength(1);
  expect(await search(query, { vector: healing, sourceIds: [crypto.randomUUID()] })).toEqual([]);
});

test("documents without vectors are found by their words", async () => {
  const plain = { corpus: "plain", visibility: "shared" };
  await running.mutate(ann, "docs.ingest", { title: "Plain", text: "The doctor comes at nine.", scope: plain });
  const found = await search(query, { scope: plain, vector: healing });
  expect(found).toMatchObject([{ sectionPath: [], score: 1 }]);
  expect(found[0]).not.toHaveProperty("similarity");
});

test("passages that a policy hides are not found by their vectors, and do not change scores", async () => {
  const before = await search(query, { vector: healing });
  const mine = { ...scope, visibility: "private" };
  expect(await search(query, { vector: healing, scope: mine })).toEqual([]);
  expect(await search(query, { vector: healing, scope: mine }, bob)).toHaveLength(1);
  for (let copy = 0; copy < 3; copy++) {
    const document = { title: `Copy ${copy}`, markdown: `Doctor ${copy} comes.`, scope: mine };
    await running.mutate(bob, "docs.ingestWithVectors", { document, vectors: [[1, 0.01 * copy, 0]] });
  }
  expect(await search(query, { vector: healing })).toEqual(before);
});

describe("is refused", () => {
  test.for([
    ["an empty vector", []],
    ["zeros", [0, 0, 0]],
    ["null", null],
    ["a text", "[1,0,0]"],
    ["another length than that of the documents", [1, 0]],
  ] as const)("%s", async ([_, vector]) => {
    const { status, body } = await running.query(ann, "docs.search", { query, scope, vector });
    expect([status, body]).toMatchObject([400, { error: expect.stringContaining("vector") }]);
  });
});
