// If this file fails, the reference does not state the version of each contract that it describes, as the specification
// names it.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import starter from "../../examples/starter/backend/index.ts";
import { root } from "../support/global-setup.ts";

// The words before the version, and the promise beside it.
const versions: [what: string, file: string, words: RegExp][] = [
  [
    "the filter syntax is version 3",
    "filters.md",
    /This is version 3 of the filter syntax, which added operators and groups/,
  ],
  ["route middleware is version 1", "procedures.md", /This is version 1 of route middleware/],
];

test.for(versions)("%s in docs/reference/%s", async ([, file, words]) => {
  const text = await readFile(join(root, "docs/reference", file), "utf8");
  expect(text.replace(/\s+/g, " ")).toMatch(words);
});

test("what a new application starts from registers generated CRUD in procedures and crons in crons", () => {
  const { procedures, crud, crons } = starter["~svc"];
  expect(crud.map(({ prefix }) => prefix)).toEqual(["notes"]);
  expect([...procedures.keys()]).toEqual(expect.arrayContaining(["notes.list", "notes.create", "notes.tidy"]));
  expect([...crons.values()]).toHaveLength(1);
});

test("the origin to register at the provider is the service's own", async () => {
  const text = await readFile(join(root, "docs/how-to/google-sign-in.md"), "utf8");
  expect(text).toMatch(/\| Authorized JavaScript origin \| the service's own origin, `AUTHLIB_URL` \|/);
});
