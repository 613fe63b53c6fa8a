// If this file fails, docs/reference/conformance.md makes a promise without a test.
import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const PAGE = "docs/reference/conformance.md";
const ROW = /^\| ([A-Z]+(?:-[A-Z]+)*-\d+) \| (?:[^|\\]|\\.)+ \| ((?:[^|\\]|\\.)+) \|$/;
/** `…-conformance.ts`: tests that several test files run, each for another store. */
const REFERENCE = /^`(tests\/[\w./-]+(?:\.test(?:-d)?\.tsx?|-conformance\.ts))` › `([^`]+)`$/;
const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

/** The problem of one reference, if any. */
function wrongReference(reference: string): string | undefined {
  const [, file, title] = REFERENCE.exec(reference) ?? [];
  if (!file || !title) return `write \`tests/….test.ts\` › \`title\`, or open, instead of ${reference}`;
  if (!existsSync(new URL(`../../${file}`, import.meta.url))) return `${file} does not exist: correct the path`;
  const text = title.replaceAll("\\|", "|"); // a bar is escaped in a table
  const literals = [JSON.stringify(text), `'${text}'`, `\`${text}\``];
  if (literals.some((literal) => read(file).includes(literal))) return;
  return `${file} has no string ${literals[0]}: copy the test's title as it is written there, or put back open`;
}

/** All problems of the page, each with its line and a remedy. */
function faults(page: string): string[] {
  const found: string[] = [];
  const lineOf = new Map<string, number>();
  for (const [index, text] of page.split("\n").entries()) {
    const fault = (what: string) => found.push(`${PAGE}:${index + 1} ${what}`);
    if (!text.startsWith("|") || text === "| Id | Statement | Proof |" || text === "|---|---|---|") continue;
    const [, id, proof] = ROW.exec(text) ?? [];
    if (!id || !proof) {
      fault("is no line of the form | ID-1 | statement | proof |: write it so, a bar inside as \\|");
      continue;
    }
    if (lineOf.has(id)) fault(`${id} is already on line ${lineOf.get(id)}: take the next free number`);
    lineOf.set(id, index + 1);
    for (const reference of proof === "open" ? [] : proof.split("<br>")) {
      const wrong = wrongReference(reference.trim());
      if (wrong) fault(`${id}: ${wrong}`);
    }
  }
  return lineOf.size > 0 ? found : [`${PAGE} has no lines: restore the tables`];
}

const own = "every line is open or names a test that exists";
test(own, () => expect(faults(read(PAGE)).join("\n")).toBe(""));

const proof = (title: string, file = "tests/structure/conformance.test.ts") => `\`${file}\` › \`${title}\``;
test.for([
  { plant: "two good references", proof: `${proof(own)}<br>${proof(own)}`, says: /^$/ },
  { plant: "another word", proof: "done", says: /:1 A-1: write/ },
  { plant: "an unknown title", proof: `${proof(own)}<br>${proof(own.toUpperCase())}`, says: /A-1: .* has no string/ },
  { plant: "an unknown file", proof: proof(own, "tests/none.test.ts"), says: /:1 A-1: .* does not exist/ },
  { plant: "a repeated id", proof: "open |\n| A-1 | twice | open", says: /:2 A-1 is already on line 1/ },
  { plant: "a cell too many", proof: "open |\n| A-2 | statement | open | open", says: /:2 is no line/ },
])("$plant is told apart", ({ proof, says }) =>
  expect(faults(`| A-1 | statement | ${proof} |`).join("\n")).toMatch(says),
);
