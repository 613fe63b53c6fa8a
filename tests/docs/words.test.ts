// If this file fails, readers of the docs, of comments or of messages find words that they must read twice.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");

/** Old habits, with the plain words to use instead. A space also stands for a line break inside a comment. */
const habits: Record<string, string> = {
  "who(?:so)?ever": "name the role: a caller, a user, a client",
  "whom(?:so)?(?:ever)?": "name the role, and use an active verb",
  "what there (?:is|are) not": "name what is missing",
  "mend(?:s|ed|ing)?": "repair, fix",
  "goes on": "continues, keeps running",
  "up to no good": "an attacker; say what it does",
  "that (?:is|are) none": "say what is invalid",
  "(?:is|are) none of": "is not one of",
  "as (?:it is|they are)(?=[.,;:)|]|\\s*\\*/)": "unchanged, or the exact state",
};

/** The checked files. Generated ones are among them if their sources are here. */
const pages = () => [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...under("docs", ".md").filter((file) => file !== "docs/reference/conformance.md"), // quotes titles of tests
  ...under("src", ".ts"),
  ...under("workers", ".ts"),
  ...under("client", ".ts", ".tsx", ".md"),
  ...under("examples", ".ts", ".tsx", ".md"),
  ...under("sql", ".sql", ".md").filter((file) => file !== "sql/schema.dump.sql"), // has comments of old migrations
];

function under(folder: string, ...endings: string[]): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((file) => !/(^|\/)(node_modules|dist|\.svc)\//.test(file));
}

/** `file:line: what was found -> what to write instead`, for each habit in a text. */
function found(file: string, text: string): string[] {
  return Object.entries(habits).flatMap(([words, instead]) => {
    const pattern = new RegExp(`\\b${words.replaceAll(" ", "[\\s/*-]+")}\\b`, "gi");
    return [...text.matchAll(pattern)].map(({ 0: match, index }) => {
      const line = text.slice(0, index).split("\n").length;
      return `${file}:${line}: "${match.replace(/\s+/g, " ")}" -> ${instead}`;
    });
  });
}

test("docs, comments and messages use plain words", () => {
  expect(pages().flatMap((file) => found(file, read(file)))).toEqual([]);
});

test("so does the newest section of the changelog", () => {
  const changelog = read("CHANGELOG.md");
  const next = changelog.indexOf("\n## ", changelog.indexOf("\n## ") + 1);
  expect(found("CHANGELOG.md", next < 0 ? changelog : changelog.slice(0, next))).toEqual([]);
});

test("the check finds a habit, also across the lines of a comment, and says where", () => {
  const text =
    "/**\n * Sends the body as it\n * is.\n */\n// The session goes\n// on for whoever asks. We recommend it as it is written.\n";
  expect(found("a.ts", text)).toEqual([
    `a.ts:6: "whoever" -> ${habits["who(?:so)?ever"]}`,
    `a.ts:5: "goes // on" -> ${habits["goes on"]}`,
    expect.stringContaining('a.ts:2: "as it * is"'),
  ]);
});
