// If this file fails, a conversion loses the rows of a large workbook in silence, or does not end.
import { expect, test } from "vitest";
import { convertDocument } from "../../src/documents/convert.ts";
import { cell, workbook } from "../support/office.ts";

test("an XLSX keeps the rows beyond the 10,000 that the first parser reads", async () => {
  const rows = Array.from(
    { length: 10_002 },
    (_, at) => `<row r="${at + 1}">${cell(`A${at + 1}`, `row ${at + 1}`)}</row>`,
  );
  const { markdown, warnings } = await convertDocument(await workbook(rows.join("")), { filename: "long.xlsx" });
  expect(markdown).toContain("| row 10002 |");
  expect(warnings).toEqual([]);
});

test("an XLSX with more than 20,000 merged ranges is refused by an error that names the limit", async () => {
  const merges = Array.from({ length: 20_001 }, (_, at) => `A${at + 1}:C${at + 1}`);
  await expect(convertDocument(await workbook("", merges), { filename: "merged.xlsx" })).rejects.toMatchObject({
    code: "DOCUMENT_UNREADABLE",
    message: "The workbook merges cells 20001 times; at most 20000 are read. Unmerge cells, or split it.",
  });
});
