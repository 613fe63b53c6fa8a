// If this file fails, a sentence of a document is not supported by it, or one with another word is. Measured on sentences of
// this documentation; on 250 of them, one word replaced, 26 were supported, and 97 by the rules before docs/adr/0032.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { groundInCollection } from "./collection.ts";

const db = database();
const folder = join(root, "docs/how-to");
const pages = new Map(
  readdirSync(folder).map((name) => {
    const markdown = readFileSync(join(folder, name), "utf8").replaceAll(/```[\s\S]*?```/g, "");
    return [name, { markdown }];
  }),
);

/** Sentences of 6 to 16 words, without markup or names. */
const sentences = [...pages.values()].flatMap(({ markdown }) =>
  markdown
    .replaceAll(/^[#|>-].*$/gm, "\n\n")
    .split(/\n\n+/)
    .flatMap((text) => text.replaceAll("\n", " ").split(/(?<=\.)\s+/))
    .filter((text) => /^[A-Z][a-z ,'-]+\.$/.test(text) && /^(?:\S+ ){5,15}\S+$/.test(text)),
);

test("a sentence of a document is supported, and hardly one with another word in it", {
  timeout: 120_000,
}, async () => {
  const picked = Array.from({ length: 80 }, (_, at) => sentences[Math.floor((at * sentences.length) / 80)] as string);
  const longOf = (text: string) => text.match(/(?<= )[a-z]{6,}/g) ?? [];
  const words = [...new Set(sentences.flatMap(longOf))].sort();
  const changed = picked.flatMap((text, at) => {
    const [word] = longOf(text).slice(-1);
    return word === undefined ? [] : [text.replace(word, words[(at * 101) % words.length] as string)];
  });
  const judged = await groundInCollection(
    db,
    pages,
    [...picked, ...changed].map((claim) => ({ claim })),
  );
  const supported = judged.map(({ status }) => status === "supported");
  const share = (of: boolean[]) => of.filter(Boolean).length / of.length;
  const found = { same: share(supported.slice(0, 80)), changed: share(supported.slice(80)), of: changed.length };
  expect(found.of).toBeGreaterThan(60);
  expect(found.same).toBeGreaterThanOrEqual(0.9);
  expect(found.changed).toBeLessThanOrEqual(0.2);
});
