// If this file fails, a question does not find the passage that answers it, or finds one that the caller may not read.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";
import { api, handbook } from "./application.ts";

const db = database();
const running = service(db, api);
const scope = { corpus: "harbour", visibility: "private" };
let ann: User;
let bob: User;
let sourceId: string;
beforeAll(async () => {
  ann = await running.signUp("ann");
  bob = await running.signUp("bob");
  const { body } = await running.mutate(ann, "docs.ingest", { title: "Handbook", markdown: handbook, scope });
  sourceId = body.json.sourceId;
  for (const visibility of ["private", "shared", "public"]) {
    const document = { title: `Bob's ${visibility}`, text: `The ${visibility} crane of Bob lifts whales.` };
    await running.mutate(bob, "docs.ingest", { ...document, scope: { ...scope, visibility } });
  }
});
const search = async (query: string, more: object = {}, user: User | null = ann) => {
  const { status, body } = await running.query(user, "docs.search", { query, scope, ...more });
  expect([status, body]).toMatchObject([200, {}]);
  return body.json;
};

test("the passage that shares most comes first, with its place, its sentence and its score", async () => {
  const [best, ...others] = await search("How many tonnes does the crane lift?");
  expect(best).toMatchObject({
    sourceId,
    sourceTitle: "Handbook",
    sectionPath: ["Safety"],
    pageStart: 1,
    snippet: "The crane lifts boats of at most 8 tonnes.",
  });
  expect(best.score).toBeGreaterThan(0.5);
  expect(best.score).toBeLessThanOrEqual(1);
  for (const { score } of others) expect(score).toBeLessThanOrEqual(best.score);
});

test("each chunk is there once, and no more than were asked for", async () => {
  const found = await search("the mooring fee of boats and guests in winter");
  const ids = found.map(({ chunkId }: { chunkId: string }) => chunkId);
  expect(ids.length).toBeGreaterThan(1);
  expect(new Set(ids).size).toBe(ids.length);
  expect(await search("the mooring fee of boats and guests in winter", { limit: 1 })).toEqual(found.slice(0, 1));
});

test("nothing is found by stop words alone, by unknown words, or in other documents than those named", async () => {
  expect(await search("of the and is")).toEqual([]);
  expect(await search("xylophone")).toEqual([]);
  expect(await search("crane", { sourceIds: [crypto.randomUUID()] })).toEqual([]);
});

describe("a search finds what its asker may read, and nothing else", () => {
  test.for([
    ["ann", "private", ["Handbook"]],
    ["ann", "shared", ["Bob's shared"]],
    ["ann", "public", ["Bob's public"]],
    ["bob", "private", ["Bob's private"]],
    [null, "public", ["Bob's public"]],
  ] as const)("%s, %s", async ([who, visibility, titles]) => {
    const user = who === "ann" ? ann : who === "bob" ? bob : null;
    const found = await search("crane", { scope: { ...scope, visibility } }, user);
    expect(found.map(({ sourceTitle }: { sourceTitle: string }) => sourceTitle)).toEqual(titles);
  });

  test("and its scores do not tell what others store", async () => {
    const before = await search("The crane lifts boats.");
    for (let copy = 0; copy < 5; copy++) {
      const document = { title: `Copy ${copy}`, text: `Crane ${copy} lifts boats.`, scope };
      await running.mutate(bob, "docs.ingest", document);
    }
    expect(await search("The crane lifts boats.")).toEqual(before);
  });
});

describe("is refused", () => {
  test.for([
    ["no query", { query: undefined }, 400],
    ["an empty query", { query: " " }, 400],
    ["2,001 characters", { query: "a".repeat(2_001) }, 400],
    ["a limit of 0", { limit: 0 }, 400],
    ["a limit of 21", { limit: 21 }, 400],
    ["a limit that is not a number", { limit: "many" }, 400],
    ["no scope", { scope: undefined }, 400],
    ["another owner", { scope: { ...scope, ownerUserId: "x" } }, 403],
    ["an id that is none", { sourceIds: ["x"] }, 400],
  ] as const)("%s", async ([, more, status]) => {
    expect((await running.query(ann, "docs.search", { query: "crane", scope, ...more })).status).toBe(status);
  });

  test("a scope that needs a session, without one", async () => {
    expect((await running.query(null, "docs.search", { query: "crane", scope })).status).toBe(401);
  });
});
