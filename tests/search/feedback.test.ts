// If this file fails, `feedback` finds nothing more, or tells a caller which words a hidden row has.
import { beforeAll, expect, inject, test } from "vitest";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";
import { addPages, api } from "./application.ts";

const db = database();
const running = service(db, api);
let ann: User;

beforeAll(async () => {
  ann = await running.signUp("ann");
});

async function search(query: string, options: object, name = "search") {
  const { status, body } = await running.query(ann, `pages.${name}`, { query, ...options });
  expect([status, body.error]).toEqual([200, undefined]);
  return body.json.items as { row: { title: string }; score: number }[];
}
const titles = (items: { row: { title: string } }[]) => items.map(({ row }) => row.title);

test("words of the best rows find a row that has no word of the query", async () => {
  const page = (title: string, body: string) => ({ userId: ann.id, title, body, corpus: "cranes" });
  await addPages(db, [
    page("one", "The crane has a gantry and a spreader."),
    page("two", "A crane moves on its gantry, under the spreader."),
    page("sought", "Oil the gantry and the spreader."),
    page("other", "Opening hours of the office."),
  ]);
  const scope = { corpus: "cranes", visibility: "private" };
  const plain = await search("crane", { scope });
  expect(titles(plain).toSorted()).toEqual(["one", "two"]);
  expect(await search("crane", { scope, feedback: false })).toEqual(plain);
  for (const feedback of [true, { documents: 2, terms: 5, weight: 0.4 }]) {
    const found = titles(await search("crane", { scope, feedback }));
    expect(found.slice(0, 2).toSorted()).toEqual(["one", "two"]);
    expect(found.slice(2)).toEqual(["sought"]);
  }
  expect(await search("crane", { scope, feedback: { weight: 0 } })).toEqual(plain);
  expect(await search("nothing", { scope, feedback: true })).toEqual([]);
});

test("a filter decides about the rows that give words, too", async () => {
  const page = (title: string, rank: number, body: string) => ({
    userId: ann.id,
    title,
    rank,
    body,
    corpus: "filters",
  });
  await addPages(db, [
    page("admitted", 1, "lantern"),
    page("left out", 2, "lantern lantern wick"),
    page("of the word", 1, "wick"),
  ]);
  const scope = { corpus: "filters", visibility: "private" };
  expect(titles(await search("lantern", { scope, feedback: true, filters: { rank: 1 } }))).toEqual(["admitted"]);
  expect(titles(await search("lantern", { scope, feedback: true })).toSorted()).toEqual([
    "admitted",
    "left out",
    "of the word",
  ]);
});

test("a hidden row gives no word: all is as if it had another one", async () => {
  const [secret, other] = ["zephyr", "walrus"];
  for (const [corpus, word] of [
    ["with", secret],
    ["without", other],
  ] as const) {
    const page = (title: string, body: string) =>
      ({ userId: "bob", title, body, corpus, visibility: "shared" }) as const;
    await addPages(db, [
      page("hidden", `Anchor, anchor, anchor ${word} ${word}.`),
      page("first", "The anchor is beside the windlass."),
      page("second", "An anchor, a chain and a windlass."),
      page("third", "The windlass needs oil, the chain does not."),
      page("decoy", `On ${secret} and ${other}.`),
    ]);
  }
  const ask = async (corpus: string) =>
    (await search("anchor", { scope: { corpus, visibility: "shared" }, feedback: { weight: 0.5 } })).map(
      ({ row, score }) => [row.title, score],
    );
  const seen = (await ask("with")).map(([title]) => title);
  expect(seen.slice(0, 1)).toEqual(["hidden"]);
  expect(seen).toContain("decoy"); // so that the rest can fail

  await db.sql("create policy hides on pages as restrictive for select to svc_authenticated using (title <> 'hidden')");
  const found = await ask("with");
  expect(found).toEqual(await ask("without"));
  expect(found.map(([title]) => title).toSorted()).toEqual(["first", "second", "third"]);
  await db.sql("drop policy hides on pages");
});

test.skipIf(inject("vector") === null)("a hybrid search takes it for its words", async () => {
  await addPages(db, [
    { userId: ann.id, title: "kiln", body: "kiln glaze", corpus: "hybrid", embedding: "[1,0,0]" },
    { userId: ann.id, title: "glaze", body: "glaze", corpus: "hybrid", embedding: "[0,1,0]" },
  ]);
  const options = { scope: { corpus: "hybrid", visibility: "private" }, vector: [0, 0, 1] };
  const matched = async (feedback: boolean) =>
    (await search("kiln", { ...options, feedback }, "hybridSearch")).filter(
      (item) => "keyword" in (item as unknown as { scores: object }).scores,
    );
  expect(titles(await matched(false))).toEqual(["kiln"]);
  expect(titles(await matched(true)).toSorted()).toEqual(["glaze", "kiln"]);
});
