// If this file fails, supplied vectors do not find evidence in other words than the claim's, count for more than they
// can prove, or an invalid vector is accepted.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";
import { api } from "./application.ts";

const db = database();
const running = service(db, api);
const scope = { corpus: "wards", visibility: "private" };
let ann: User;
let bob: User;
const markdown = `# Rounds

A physician visits each ward twice a day.

# Visits

Guests may not stay after eight.

# Kitchen

Lunch comes at noon.`;
// Three directions: healing people, guests, food.
const vectors = [
  [4, 0, 0],
  [0, 2, 0],
  [0, 0, 1],
];
beforeAll(async () => {
  ann = await running.signUp("ann");
  bob = await running.signUp("bob");
  const document = { title: "Wards", markdown, scope };
  const { status, body } = await running.mutate(ann, "docs.ingestWithVectors", { document, vectors });
  expect([status, body]).toMatchObject([200, { json: { chunks: 3 } }]);
});

const ask = (claim: object, more: object = {}, user = ann) =>
  running.query(user, "docs.answer", { question: "?", scope, mode: "qa", claims: [claim], ...more });
const answer = async (claim: object, more: object = {}) => {
  const { status, body } = await ask(claim, more);
  expect([status, body]).toMatchObject([200, {}]);
  return body.json.claims[0];
};
const claimText = "Doctors come morning and evening.";

test("a claim in other words is supported in part, by the passage that is like it, and never wholly", async () => {
  expect(await answer({ claimText })).toMatchObject({ status: "insufficient_evidence", citations: [] });
  const claim = await answer({ claimText, vector: [0.9, 0.1, 0] });
  expect(claim).toMatchObject({
    status: "partially_supported",
    citations: [{ sectionPath: ["Rounds"], snippet: "A physician visits each ward twice a day." }],
  });
  expect(claim.citations[0].similarity).toBeCloseTo(0.994, 3);
});

describe("likeness is not enough", () => {
  test.for([
    ["where it is less than minSimilarity", { claimText, vector: [1, 1, 1] }, {}],
    ["where more of it is asked for", { claimText, vector: [0.9, 0.1, 0] }, { minSimilarity: 0.999 }],
    ["for a denial", { claimText: "Doctors never come.", vector: [1, 0, 0] }, {}],
    ["for a name that is not there", { claimText: "Clinic staff of Hamburg come.", vector: [1, 0, 0] }, {}],
    ["for a number that is not there", { claimText: "Doctors come 3 times.", vector: [1, 0, 0] }, {}],
    ["without a required term", { claimText, vector: [1, 0, 0], requiredTerms: ["doctor"] }, {}],
  ] as const)("%s", async ([, claim, more]) => {
    expect(await answer(claim, more)).toMatchObject({ status: "insufficient_evidence" });
  });
});

test("what is supported by its words stays so beside a vector of something else", async () => {
  const claim = { claimText: "Lunch comes at noon.", vector: [1, 0, 0] };
  const { status, citations } = await answer(claim);
  expect([status, citations]).toMatchObject(["supported", [{ sectionPath: ["Kitchen"] }]]);
});

test("vectors of others are not looked at", async () => {
  const { body } = await ask({ claimText, vector: [1, 0, 0] }, {}, bob);
  expect(body.json).toMatchObject({ meta: { sentences: 0 }, claims: [{ citations: [] }] });
});

describe("a vector that is none is refused with 400", () => {
  test.for([
    ["empty", []],
    ["a text", "1,2,3"],
    ["with a text in it", [1, "2", 3]],
    ["with a null, as JSON writes NaN and infinities", [1, null, 3]],
    ["of zeros", [0, 0, 0]],
    ["of 4,097 numbers", Array(4_097).fill(1)],
    ["of another length than the documents'", [1, 0]],
  ])("%s", async ([, vector]) => {
    const { status, body } = await ask({ claimText, vector });
    expect([status, body.issues?.[0]?.path ?? body.error?.issues?.[0]?.path]).toEqual([400, ["claims", "0", "vector"]]);
  });

  test.for([
    ["too few", vectors.slice(1)],
    [
      "of two lengths",
      [
        [1, 0, 0],
        [1, 0],
        [1, 0, 0],
      ],
    ],
    ["none at all", undefined],
    ["one without direction", [[0, 0, 0], ...vectors.slice(1)]],
  ])("from embed: %s", async ([, given]) => {
    const document = { title: "Other wards", markdown, scope };
    expect((await running.mutate(ann, "docs.ingestWithVectors", { document, vectors: given })).status).toBe(400);
    expect(await db.sql("select from svc.rag_sources where title = 'Other wards'")).toEqual([]);
  });
});

test("without pgvector the products are the same", async () => {
  const client = await db.connect("admin");
  const product = async () =>
    (
      await client.query(
        "select svc_hidden.similarity_of('{0.6,0.8}', '{0.8,-0.6}') as one, svc_hidden.similarity_of('{1,0}', '{0.5,2}') as other",
      )
    ).rows;
  const before = await product();
  await client.query("begin");
  await client.query("drop extension if exists vector cascade");
  const without = await product();
  await client.query("rollback");
  expect(before[0].other).toBeCloseTo(0.5);
  expect(without[0].one).toBeCloseTo(before[0].one);
  expect(without[0].other).toBeCloseTo(0.5);
});
