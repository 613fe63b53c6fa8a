// If this file fails, rows without cells are read in another way: tables get blank rows, or lose them.
import { expect, test } from "vitest";
import { htmlToMarkdown } from "../../src/documents/engines/html.ts";
import { flattenTables } from "../../src/documents/engines/html-tables.ts";

const table = "<table><tr><td>a</td></tr><tr></tr><tr><td>b</td></tr><tr></tr></table>";

test("a table of another converter keeps those between its cells, and loses those at its end", () => {
  expect(flattenTables(table).trim().split("\n")).toEqual(["| a |", "| --- |", "|  |", "| b |"]);
});

test("a table of HTML keeps them", () => {
  expect(htmlToMarkdown(table).trim().split("\n")).toEqual(["| a |", "| --- |", "|  |", "| b |", "|  |"]);
});
