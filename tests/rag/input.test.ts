// If this file fails, a mistake in a call causes a wrong answer or a 500 instead of an error that names the mistake.
import { beforeAll, describe, expect, test } from "vitest";
import { checkPlace } from "../../src/rag/document-input.ts";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";
import { api } from "./application.ts";

const db = database();
const running = service(db, api);
const scope = { corpus: "notes", visibility: "private" };
let ann: User;
beforeAll(async () => {
  ann = await running.signUp("ann");
  await running.mutate(ann, "docs.ingest", { title: "A note", text: "The kettle is blue.", scope });
});

const question = { question: "Which?", scope, mode: "qa", claims: [{ claimText: "The kettle is blue." }] };
const document = { title: "T", text: "Some words.", scope };

describe("scopes", () => {
  const wrong: [string, unknown, number][] = [
    ["no scope", undefined, 400],
    ["null", null, 400],
    ["no corpus", { visibility: "private" }, 400],
    ["an empty corpus", { corpus: "", visibility: "private" }, 400],
    ["no visibility", { corpus: "notes" }, 400],
    ["an unknown visibility", { corpus: "notes", visibility: "secret" }, 400],
    ["an owner that is no text", { ...scope, ownerUserId: 7 }, 400],
    ["a member that does not exist", { ...scope, ownerId: "x" }, 400],
    ["another owner", { ...scope, ownerUserId: "someone-else" }, 403],
    ["another owner of public documents", { corpus: "notes", visibility: "public", ownerUserId: "someone-else" }, 403],
  ];
  test.for(wrong)("%s is refused everywhere", async ([, bad, status]) => {
    expect((await running.query(ann, "docs.answer", { ...question, scope: bad })).status).toBe(status);
    expect((await running.query(ann, "docs.list", { scope: bad })).status).toBe(status);
    expect((await running.mutate(ann, "docs.ingest", { ...document, scope: bad })).status).toBe(status);
  });

  test("the caller's own id is what a private scope means anyway", async () => {
    const own = { ...scope, ownerUserId: ann.id };
    const { body } = await running.query(ann, "docs.answer", { ...question, scope: own });
    expect(body.json.grounded).toBe(true);
  });

  test("nobody ingests without being signed in, whatever the visibility", async () => {
    for (const visibility of ["private", "shared", "public"]) {
      const { status } = await running.mutate(null, "docs.ingest", {
        ...document,
        scope: { corpus: "notes", visibility },
      });
      expect(status).toBe(401);
    }
  });
});

describe("questions that are refused with 400", () => {
  const claim = { claimText: "The kettle is blue." };
  test.for([
    ["another mode", { mode: "chat" }],
    ["no mode", { mode: undefined }],
    ["no question", { question: undefined }],
    ["an empty question", { question: " " }],
    ["a long question", { question: "a".repeat(2_001) }],
    ["no claims", { claims: undefined }],
    ["an empty list of claims", { claims: [] }],
    ["21 claims", { claims: Array(21).fill(claim) }],
    ["a claim that is no object", { claims: ["The kettle is blue."] }],
    ["a claim without text", { claims: [{}] }],
    ["a claim of 2,001 characters", { claims: [{ claimText: "a".repeat(2_001) }] }],
    ["required terms that are no list", { claims: [{ ...claim, requiredTerms: "blue" }] }],
    ["an empty required term", { claims: [{ ...claim, requiredTerms: [""] }] }],
    ["a budget of no chunks", { budget: { chunks: 0 } }],
    ["a budget of 51 sentences", { budget: { sentences: 51 } }],
    ["a budget of 11 citations", { budget: { citations: 11 } }],
    ["a budget that is no number", { budget: { chunks: "many" } }],
    ["a minSimilarity above 1", { minSimilarity: 1.1 }],
    ["21 required terms", { claims: [{ ...claim, requiredTerms: Array(21).fill("blue") }] }],
    ["an unknown language", { language: "klingon" }],
    ["a source id that is none", { sourceIds: ["one"] }],
    ["101 source ids", { sourceIds: Array(101).fill(crypto.randomUUID()) }],
    ["a member that does not exist", { sourceIDs: [] }],
    ["a member that a budget does not have", { budget: { chunk: 1 } }],
    ["NUL", { claims: [{ claimText: "The kettle\0 is blue." }] }],
  ] as [string, object][])("%s", async ([, more]) => {
    const { status, body } = await running.query(ann, "docs.answer", { ...question, ...more });
    expect([status, body.error]).toEqual([400, expect.any(String)]);
  });

  test.for(["docs.answer", "docs.search", "docs.list", "docs.remove", "docs.ingest"])(
    "%s of nothing at all",
    async (name) => {
      const call = name.startsWith("docs.remove") || name === "docs.ingest" ? running.mutate : running.query;
      for (const nothing of [null, undefined, "text"]) {
        const { status, body } = await call.call(running, ann, name, nothing);
        expect([status, body.error]).toEqual([name === "docs.remove" ? 404 : 400, expect.any(String)]);
      }
    },
  );

  test("the limits themselves are accepted", async () => {
    const claims = Array(20).fill({ ...claim, requiredTerms: Array(20).fill("blue") });
    const { body } = await running.query(ann, "docs.answer", { ...question, claims });
    expect(body.json).toMatchObject({ grounded: true, meta: { supported: 20 } });
  });
});

test("a mistyped member is named, with the one that was meant", async () => {
  const wrong = { query: "kettle", scope, sourceIDs: [] };
  const { status, body } = await running.query(ann, "docs.search", wrong);
  expect([status, body]).toEqual([
    400,
    expect.objectContaining({ error: '"input" has no member "sourceIDs".', hint: 'Did you mean "sourceIds"?' }),
  ]);
});

describe("claims that mean nothing are answered, and not supported", () => {
  test.for([
    "the of and",
    "!!! ??? ---",
    "' \" \\ ; -- & | ! ( ) : *",
    "kettle:* & !blue | (a <-> b)",
    "🫖🫖🫖",
    "الغلاية زرقاء",
    "水壶是蓝色的",
    "a".repeat(2_000),
  ])("%s", async (claimText) => {
    const { status, body } = await running.query(ann, "docs.answer", { ...question, claims: [{ claimText }] });
    expect([status, body.json?.grounded]).toEqual([200, false]);
  });
});

describe("documents that are refused", () => {
  test.for([
    ["no title", { title: undefined }, 400],
    ["an empty title", { title: "" }, 400],
    ["a long title", { title: "a".repeat(1_001) }, 400],
    ["neither text nor Markdown", { text: undefined }, 400],
    ["both text and Markdown", { markdown: "words" }, 400],
    ["text that is none", { text: 7 }, 400],
    ["an empty URI", { sourceUri: "" }, 400],
    ["an unknown language", { language: "klingon" }, 400],
    ["NUL", { text: "a\0b" }, 400],
  ] as [string, object, number][])("%s", async ([, more, status]) => {
    const before = await db.snapshot("svc.rag_sources");
    expect((await running.mutate(ann, "docs.ingest", { ...document, ...more })).status).toBe(status);
    expect(await db.snapshot("svc.rag_sources")).toEqual(before);
  });

  // It was "Sign in to do this.", which no job can.
  test.for(["private", "shared"] as const)("of the system, if they are %s", (visibility) => {
    const place = { title: "T", scope: { corpus: "notes", visibility } };
    expect(() => checkPlace(place, { userId: null, system: true })).toThrow("must be public");
  });

  test("a query cannot ingest", async () => {
    const { status, body } = await running.query(ann, "docs.ingestInQuery", document);
    expect([status, body.code]).toEqual([500, "QUERY_WROTE"]);
  });
});
