// If this file fails, SECURITY.md or the page of advisories names a defence that does not exist.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");

describe.for(["SECURITY.md", "docs/reference/advisories.md"])("%s", (page) => {
  test("names files that exist", () => {
    const named = [...read(page).matchAll(/`((?:src|sql|tests|migrations)\/[\w./-]+)`/g)].map(([, file = ""]) => file);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});

test("the advisories name tests that exist", () => {
  const named = [...read("docs/reference/advisories.md").matchAll(/`(tests\/[\w./-]+)` › `([^`]+)`/g)];
  expect(named.length).toBeGreaterThan(20);
  expect(
    named.filter(([, file = "", title = ""]) => !read(file).includes(JSON.stringify(title))).map(([all]) => all),
  ).toEqual([]);
});
