// If this file fails, documents from a Mac are not found by questions from Windows: their words are other characters.
import { beforeAll, describe, expect, test } from "vitest";
import { hashEmbedding } from "../../src/ai/local-hash.ts";
import { composed } from "../../src/text/composed.ts";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";
import { api } from "./application.ts";

const running = service(database(), api);
let ann: User;
beforeAll(async () => {
  ann = await running.signUp("ann");
});

const text = "Die Liegegebühr für größere Boote beträgt 12 Euro. 서울 항구의 정박 요금은 하루에 12유로이다.";
const claims = ["Die Liegegebühr für größere Boote beträgt 12 Euro.", "정박 요금은 하루에 12유로이다."];

describe.each([
  ["NFC", "NFD"],
  ["NFD", "NFC"],
] as const)("a document in the form %s", (stored, asked) => {
  const scope = { corpus: stored, visibility: "private" };
  beforeAll(async () => {
    const document = { title: "Fees", markdown: `# Fees\n\n${text.normalize(stored)}\n`, scope };
    expect((await running.mutate(ann, "docs.ingest", document)).status).toBe(200);
  });

  test.each(claims)(`supports the claim %j in the form ${asked}`, async (claim) => {
    const claimText = claim.normalize(asked);
    const requiredTerms = [(claim.split(" ")[1] as string).normalize(asked)];
    const { body } = await running.query(ann, "docs.answer", {
      ...{ question: claimText, scope, mode: "qa", claims: [{ claimText, requiredTerms }] },
    });
    expect(body.json).toMatchObject({ grounded: true, claims: [{ status: "supported" }] });
  });

  test(`is found by words in the form ${asked}`, async () => {
    for (const query of ["Liegegebühr", "요금"]) {
      const { body } = await running.query(ann, "docs.search", { query: query.normalize(asked), scope });
      expect(body.json).toHaveLength(1);
    }
  });
});

const marks = (count: number) => `a${"\u0301".repeat(count)}${"\u0323".repeat(count)}`;

test("a text with more than 30 marks in a row stays: they would take too long to sort", () => {
  expect(composed(marks(500_000))).toBe(marks(500_000));
  expect(composed(marks(15))).toBe(marks(15).normalize("NFC"));
});

test("the embedding of a text leaves them out", () => {
  expect(hashEmbedding(`boats ${marks(500_000)}`)).toEqual(hashEmbedding("boats a"));
  expect(hashEmbedding("ｂｏａｔｓ cafe\u0301")).toEqual(hashEmbedding("boats café"));
});

test("a document of them is ingested, and its claims are judged", async () => {
  const scope = { corpus: "marks", visibility: "private" };
  const markdown = `Boats pay 12 euros ${marks(200_000)} a night.`;
  expect((await running.mutate(ann, "docs.ingest", { title: "Marks", markdown, scope })).status).toBe(200);
  const claims = [{ claimText: "Boats pay 12 euros.", requiredTerms: ["pay 12"] }];
  const { body } = await running.query(ann, "docs.answer", {
    question: "What do boats pay?",
    scope,
    mode: "qa",
    claims,
  });
  expect(body.json.claims).toHaveLength(1);
});
