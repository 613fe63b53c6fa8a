// If this file fails, a conversion loses text in silence: moved sentences, captions, headers.
import { describe, expect, test } from "vitest";
import { convertDocument } from "../../src/documents/convert.ts";
import { cell, relation, word, workbook } from "../support/office.ts";

const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
const by = 'w:id="1" w:author="Ann" w:date="2026-01-01T00:00:00Z"';

const space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

describe("a DOCX", () => {
  const changed = word(
    [
      `<w:p>${run("First sentence.")}</w:p>`,
      `<w:p><w:ins ${by}>${run("An inserted sentence.")}</w:ins></w:p>`,
      `<w:p>${run("Before ")}<w:del ${by}><w:r><w:delText>deleted </w:delText></w:r></w:del>${run("after.")}</w:p>`,
      `<w:p><w:moveFromRangeStart w:id="2" w:name="m"/><w:moveFrom ${by}>${run("The sentence that travels.")}</w:moveFrom><w:moveFromRangeEnd w:id="2"/></w:p>`,
      `<w:p>${run("Middle sentence.")}</w:p>`,
      `<w:p><w:moveToRangeStart w:id="3" w:name="m"/><w:moveTo ${by}>${run("The sentence that travels.")}</w:moveTo><w:moveToRangeEnd w:id="3"/></w:p>`,
      `<w:p><w:fldSimple w:instr="DATE">${run("A field result.")}</w:fldSimple></w:p>`,
      `<w:p><w:customXml w:element="q"><w:customXmlPr/>${run("Tagged text.")}</w:customXml></w:p>`,
    ].join(""),
  );

  test.for(["parser_a", "parser_b"] as const)("with tracked changes is read as accepted, by %s", async (provider) => {
    const { markdown, warnings } = await convertDocument(await changed, { filename: "changed.docx", provider });
    const sentences = markdown.split(/\n+/).filter((line) => line !== "");
    expect(sentences).toEqual([
      "First sentence.",
      "An inserted sentence.",
      "Before after.",
      "Middle sentence.",
      "The sentence that travels.",
      "A field result.",
      "Tagged text.",
    ]);
    expect(warnings).toEqual([]);
  });

  test.for([
    ["parser_a", "A well. (Dug by hand.)"],
    ["parser_b", "A well.[^footnote-2] [^footnote-2]: Dug by hand."],
  ] as const)("has a note with its own words alone, by %s", async ([provider, text]) => {
    const body = `<w:p>${run("A well.")}<w:r><w:footnoteReference w:id="2"/></w:r></w:p>`;
    const ref = `<w:r><w:footnoteRef/></w:r>${run(" Dug by hand.")}`;
    const notes = `<w:footnotes ${space}><w:footnote w:id="0" w:type="separator"><w:p/></w:footnote><w:footnote w:id="2"><w:p>${ref}</w:p></w:footnote></w:footnotes>`;
    const parts = {
      "word/footnotes.xml": notes,
      "word/_rels/document.xml.rels": relation("footnotes", "footnotes.xml"),
    };
    const { markdown, warnings } = await convertDocument(await word(body, parts), { filename: "note.docx", provider });
    expect(markdown.trim().replace(/\n+/g, " ")).toBe(text);
    expect(warnings).toEqual([]);
  });

  test("says which parts were left out, and not what was never to be seen", async () => {
    const hidden = `<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>Hidden words</w:t></w:r>${run("Shown.")}</w:p>`;
    const header = `<w:hdr ${space}><w:p>${run("Confidential draft")}</w:p></w:hdr>`;
    const { markdown, warnings } = await convertDocument(await word(hidden, { "word/header1.xml": header }), {
      filename: "header.docx",
    });
    expect(markdown.trim()).toBe("Shown.");
    expect(warnings).toEqual(["Headers and footers were left out."]);
  });
});

describe("an XLSX", () => {
  test("has a row above its table that is merged as a whole once, as a caption", async () => {
    const rows = [
      `<row r="1">${cell("A1", "Sales of the year")}</row>`,
      `<row r="2">${cell("A2", "Month")}${cell("B2", "North")}${cell("C2", "South")}</row>`,
      `<row r="3">${cell("A3", "May")}${cell("B3", "1")}${cell("C3", "2")}</row>`,
    ];
    const { markdown } = await convertDocument(await workbook(rows.join(""), ["A1:C1"]), { filename: "sales.xlsx" });
    expect(markdown).toBe(
      "## Sales\n\n**Sales of the year**\n\n| Month | North | South |\n| --- | --- | --- |\n| May | 1 | 2 |",
    );
  });
});
