// If this file fails, an unusual query makes a search fail instead of finding something or being refused.

import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { anyCharacter, fc } from "../support/properties.ts";
import { service, type User } from "../support/service.ts";
import { addPages, api } from "./application.ts";

const db = database();
const running = service(db, api);
const scope = { corpus: "default", visibility: "private" };
let ann: User;
beforeAll(async () => {
  ann = await running.signUp("ann");
  await addPages(db, [
    { userId: ann.id, title: 'O\'Reilly & sons: "boats" (100%)', body: "the boat 👩‍🚀 مركب 小さな船 배를 타다" },
  ]);
});

const found = async (query: unknown) => {
  const { status, body } = await running.query(ann, "pages.search", { query, scope });
  return { status, items: body.json?.items?.length };
};

test.for([
  ["operators", "boat & ! | <-> :* ( ) boat:A", 1],
  ["quotes", `'"boat"' $$ \\ ' or 1=1 --`, 1],
  ["wildcards", "%_ boat *", 1],
  ["only stop words", "the and of", 0],
  ["only punctuation", "?!… ---", 0],
  ["only emoji", "👩‍🚀🚤", 0],
  ["right to left", "\u202eمركب\u202c", 1],
  ["full-width letters", "ｂｏａｔ", 1],
  ["mixed scripts", "小さな boat 배를 船", 1],
  ["many words", Array.from({ length: 300 }, (_, word) => `w${word}`).join(" "), 0],
  ["one long word", "b".repeat(2_000), 0],
  ["a lone surrogate's replacement", "\ufffd boat", 1],
] as const)("%s", async ([, query, items]) => {
  expect(await found(query)).toEqual({ status: 200, items });
});

test.for([
  ["NUL", { text: "boat\0" }],
  ["100 kB", { text: "boat ".repeat(20_000) }],
  ["nothing", { text: "" }],
  ["blanks", { text: " \n\t " }],
  ["a number", { text: 5 }],
  ["an object", { text: { $ne: "" } }],
] as const)("%s is a 400", async ([, { text }]) => {
  expect((await found(text)).status).toBe(400);
});

const piece = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.constantFrom(
    "boat",
    "'",
    '"',
    "\\",
    ":*",
    "<->",
    "&",
    "|",
    "!",
    "(",
    ")",
    "$1",
    "%s",
    "\0",
    "\u202e",
    "한글",
    "👩‍🚀",
  ),
);
const hostile = fc.array(piece, { maxLength: 20 });
// The first text takes seconds on a busy machine, longer than the service keeps an idle connection, so generate it
// before.
fc.sample(hostile, 1);

test("whatever is asked, the answer is a result or a 400", { timeout: 1_800_000 }, async () => {
  const numRuns = Number(process.env.FUZZ_RUNS ?? 0) > 0 ? 10_000 : 200;
  await fc.assert(
    fc.asyncProperty(hostile, async (pieces) => {
      expect([200, 400]).toContain((await found(pieces.join(" "))).status);
    }),
    { numRuns },
  );
});

test("a query of 400 words that are all known is answered", async () => {
  const words = Array.from({ length: 400 }, (_, place) => `k${place}`);
  const [id] = await addPages(db, [{ userId: ann.id, title: "long", body: words.join(" ") }]);
  const { status, items } = await found(words.join(" "));
  expect([id, status, items]).toEqual([id, 200, 1]);
});

test("a text that nobody would write is indexed like any other", async () => {
  const odd = ["a".repeat(5_000), "\u0001\ufeff", "ａ".repeat(300), "船".repeat(3_000), "1".repeat(500), "x_y-z.w@v"];
  const ids = await addPages(
    db,
    odd.map((body) => ({ userId: ann.id, title: "oddity", body })),
  );
  expect((await found("oddity")).items).toBe(ids.length);
});
