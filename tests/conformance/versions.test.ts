// If this file fails, the reference no longer says which version of a contract it describes, as the specification names it.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/global-setup.ts";

// The words before the version, and the promise that stands with it.
const versions: [what: string, file: string, words: RegExp][] = [
  [
    "the filter syntax is version 3",
    "filters.md",
    /This is version 3 of the filter syntax, the one with operators and groups/,
  ],
  ["route middleware is version 1", "procedures.md", /This is version 1 of route middleware/],
];

test.for(versions)("%s in docs/reference/%s", async ([, file, words]) => {
  const text = await readFile(join(root, "docs/reference", file), "utf8");
  expect(text.replace(/\s+/g, " ")).toMatch(words);
});
