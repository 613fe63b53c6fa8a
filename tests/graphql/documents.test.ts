/** The memory for documents. Anybody may send any number of them, each another one. */
import { buildSchema } from "grafast/graphql";
import { expect, test } from "vitest";
import { Documents } from "../../src/graphql/documents.ts";
import { collectGarbage } from "../support/collect-garbage.ts";

const schema = buildSchema("type Query { note: Query, id: Int }");
const settings = {
  enabled: true,
  introspection: false,
  ruru: false,
  maxDepth: 12,
  maxFields: 400,
  maxAliases: 30,
  maxCost: 5_000,
  statementTimeoutMs: 5_000,
};

/** In bytes: by how much the heap has grown after documents that were all different. */
function growth(amount: number, text: (index: number) => string): number {
  const documents = new Documents(schema, settings);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < amount; index++) {
    try {
      documents.find(text(index), null);
    } catch {
      // refused
    }
  }
  collectGarbage();
  const grown = process.memoryUsage().heapUsed - before;
  expect(documents.find("{ id }", null).operation.operation).toBe("query"); // they are still in use
  return grown;
}

test.each([
  ["an unknown field", (index: number) => `{x${index}}`],
  ["a syntax error", (index: number) => `{x${index}`],
  ["too many aliases", (index: number) => `{${Array.from({ length: 31 }, (_, n) => `a${n}x${index}:id`).join(" ")}}`],
])("refused documents take no memory afterwards: %s", (_name, text) => {
  expect(growth(2_000, text)).toBeLessThan(10_000_000); // 120 MB when they were kept
});

test("documents count by what they take in memory, the shortest for 2,000 bytes and more: 16,000 displace the first", () => {
  const documents = new Documents(schema, settings);
  const first = documents.find("{ id }", null).document;
  expect(documents.find("{ id }", null).document).toBe(first);
  for (let index = 0; index < 16_000; index++) documents.find(`{a${index}:id}`, null);
  expect(documents.find("{ id }", null).document).not.toBe(first);
});
