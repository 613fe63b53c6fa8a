// If this file fails, answers cite passages that do not support them, or their citations cannot be opened.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";
import { api, handbook } from "./application.ts";

const db = database();
const running = service(db, api);
const scope = { corpus: "harbour", visibility: "private" };
let ann: User;
let sourceId: string;
beforeAll(async () => {
  ann = await running.signUp("ann");
  const { body } = await running.mutate(ann, "docs.ingest", { title: "Handbook", markdown: handbook, scope });
  sourceId = body.json.sourceId;
});

async function answer(claims: (string | { claimText: string; requiredTerms?: string[] })[], more = {}) {
  const { status, body } = await running.query(ann, "docs.answer", {
    question: "What are the rules of the harbour?",
    scope,
    mode: "qa",
    claims: claims.map((claim) => (typeof claim === "string" ? { claimText: claim } : claim)),
    ...more,
  });
  expect([status, body]).toMatchObject([200, {}]);
  return body.json;
}
const statusOf = async (claim: string, requiredTerms?: string[]) =>
  (await answer([{ claimText: claim, ...(requiredTerms && { requiredTerms }) }])).claims[0].status;

test("a supported claim is cited with its source, section and chunk", async () => {
  const {
    grounded,
    claims,
    answer: text,
    meta,
  } = await answer(["Every boat pays a mooring fee of 12 euros per night."]);
  expect(grounded).toBe(true);
  expect(text).toBe("Every boat pays a mooring fee of 12 euros per night.");
  expect(meta).toMatchObject({ mode: "qa", supported: 1, insufficientEvidence: 0 });
  const [citation] = claims[0].citations;
  expect(claims[0]).toMatchObject({ status: "supported", confidence: expect.any(Number) });
  expect(citation).toMatchObject({
    sourceId,
    sourceTitle: "Handbook",
    sectionPath: ["Fees"],
    pageStart: 1,
    snippet: "Every boat pays a mooring fee of 12 euros per night.",
    coverage: 1,
  });
  const chunks = await db.sql("select section_id, text from svc.rag_chunks where id = any ($1)", [citation.chunkIds]);
  expect(chunks).toMatchObject([{ section_id: citation.sectionId, text: expect.stringContaining(citation.snippet) }]);
});

test("a citation opens the section that it names", async () => {
  const { claims } = await answer(["The crane lifts boats of at most 8 tonnes."]);
  const [{ sectionId }] = claims[0].citations;
  const { body } = await running.query(ann, "docs.section", sectionId);
  expect(body.json).toMatchObject({ id: sectionId, sourceId, sourceTitle: "Handbook", path: ["Safety"], pageStart: 1 });
  expect(body.json.text).toBe(
    "Diesel must not be stored in the boat house. The crane lifts boats of at most 8 tonnes.",
  );
});

describe("what the document says in other words is supported", () => {
  test.for([
    "Boats pay 12 euros per night for mooring.",
    "The office closes at 17:00.",
    "Diesel must not be stored in the boat house.",
    "Children under 6 years stay free.",
    "The crane lifts boats of at most 8 tonnes.",
  ])("%s", async (claim) => {
    expect(await statusOf(claim)).toBe("supported");
  });
});

describe("what overlaps and says something else is not supported", () => {
  test.for([
    ["another number", "Every boat pays a mooring fee of 15 euros per night."],
    ["another unit", "Every boat pays a mooring fee of 12 dollars per night."],
    ["a negation", "The office is not closed on Sundays."],
    ["a missing negation", "Diesel must be stored in the boat house."],
    ["the opposite", "The discount decreases the number of winter guests."],
    ["the opposite of a verb", "The office closes at 8:00 and opens at 17:00."],
    ["another entity", "Members of the rowing club pay no mooring fee in winter."],
    ["a name that nobody mentioned", "Every boat pays a mooring fee of 12 euros per night in Hamburg."],
    ["a number that nobody mentioned", "Members of the sailing club pay no mooring fee in winter 2025."],
    ["another day", "The office is closed on Mondays."],
    ["something unknown", "The harbour was built in the nineteenth century."],
  ])("%s: %s", async ([, claim]) => {
    const { grounded, claims } = await answer([claim as string]);
    expect(claims[0].status).not.toBe("supported");
    expect(grounded).toBe(false);
  });
});

describe("Korean, by pairs of characters", () => {
  const korean = "사무실은 8시에 문을 연다. 모든 배는 하룻밤에 12유로를 낸다. 디젤은 창고에 보관하면 안 된다.";
  test.for([
    ["사무실은 8시에 문을 연다", "supported"],
    ["모든 배는 하룻밤에 12유로를 낸다", "supported"],
    ["모든 배는 하룻밤에 15유로를 낸다", "insufficient_evidence"],
    ["모든 배는 하룻밤에 12달러를 낸다", "insufficient_evidence"],
    ["사무실은 8시에 문을 열지 않는다", "insufficient_evidence"],
    ["항구는 십구 세기에 건설되었다", "insufficient_evidence"],
  ])("%s: %s", async ([claim, status]) => {
    const korea = { corpus: "korean", visibility: "private" };
    await running.mutate(ann, "docs.ingest", { title: "안내", text: korean, scope: korea });
    const { claims } = await answer([claim as string], { scope: korea });
    expect(claims[0].status).toBe(status);
  });
});

test("one claim without support makes the answer ungrounded, and leaves it out of the text", async () => {
  const {
    grounded,
    claims,
    answer: text,
  } = await answer(["The crane lifts boats of at most 8 tonnes.", "The harbour sells fresh fish."]);
  expect(grounded).toBe(false);
  expect(claims.map(({ status }: { status: string }) => status)).toEqual(["supported", "insufficient_evidence"]);
  expect(text).toBe("The crane lifts boats of at most 8 tonnes.");
});

describe("required terms must stand in the evidence", () => {
  const claim = "The crane lifts boats of at most 8 tonnes.";
  test.for([
    [["crane"], "supported"],
    [["CRANE", "8 tonnes"], "supported"],
    [["hydraulic"], "insufficient_evidence"],
    [["crane", "hydraulic"], "insufficient_evidence"],
    [["ton"], "insufficient_evidence"],
  ] as const)("%j: %s", async ([terms, status]) => {
    expect(await statusOf(claim, [...terms])).toBe(status);
  });
});

test("a budget says how much is judged and how much is cited", async () => {
  const lamps = { corpus: "lamps", visibility: "private" };
  for (const room of ["hall", "attic", "cellar", "tower"]) {
    const text = `The lamp of the ${room} is green. It was lit in the ${room} by night.`;
    await running.mutate(ann, "docs.ingest", { title: room, text, scope: lamps });
  }
  const ask = (budget?: object) => answer(["The lamp is green by night."], { scope: lamps, budget });
  const cited = async (budget?: object) => (await ask(budget)).claims[0].citations.length;
  expect([await cited(), await cited({ citations: 1 }), await cited({ citations: 10 })]).toEqual([3, 1, 4]);
  const judged = async (budget?: object) => (await ask(budget)).meta.sentences;
  expect([await judged(), await judged({ sentences: 3 }), await judged({ chunks: 1 })]).toEqual([8, 3, 2]);
});

test("only the documents that are named are asked", async () => {
  const other = await running.mutate(ann, "docs.ingest", {
    title: "Other",
    text: "The tower is 30 metres high.",
    scope,
  });
  const claims = ["The tower is 30 metres high."];
  expect(await answer(claims, { sourceIds: [other.body.json.sourceId] })).toMatchObject({ grounded: true });
  expect(await answer(claims, { sourceIds: [sourceId] })).toMatchObject({ grounded: false });
});

test("an empty corpus supports nothing", async () => {
  const { grounded, claims, meta } = await answer(["The office closes at 17:00."], {
    scope: { corpus: "nothing", visibility: "private" },
  });
  expect([grounded, meta.sentences]).toEqual([false, 0]);
  expect(claims).toMatchObject([{ status: "insufficient_evidence", confidence: 0, citations: [] }]);
});
