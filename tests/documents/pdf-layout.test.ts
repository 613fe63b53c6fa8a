// If this file fails, a PDF is read in the wrong order: columns are mixed, cells are torn, rows of tables become headings.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { convertDocument } from "../../src/documents/convert.ts";
import { convertPdf } from "../../src/documents/engines/pdf.ts";
import { pdf } from "../support/papers.ts";

/** Pages that LibreOffice made: `fixtures/make.py`. */
const read = async (name: string) =>
  (await convertPdf(readFileSync(join(import.meta.dirname, "fixtures", `${name}.pdf`)))).markdown;

/** A page of text at places. @param texts from the upper left, in the order in which they are drawn */
function page(texts: [x: number, y: number, text: string, size?: number][]): Buffer {
  const empty = pdf([["PLACE"]]).toString("latin1");
  const shown = texts.map(([x, y, text, size = 11]) => `/F1 ${size} Tf 1 0 0 1 ${x} ${792 - y} Tm (${text}) Tj`);
  const stream = `BT ${shown.join("\n")} ET`;
  return Buffer.from(
    empty.replace(
      /<< \/Length \d+ >>\nstream\n[\s\S]*?\nendstream/,
      `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    ),
    "latin1",
  );
}
const written = async (texts: Parameters<typeof page>[0]) => (await convertPdf(page(texts))).markdown;

describe("order", () => {
  test("is that of the page, and not that in which text was drawn", async () => {
    const lines = ["First line of it.", "Second line of it.", "Third line of it."];
    const drawn = [2, 0, 1].map((at): [number, number, string] => [60, 60 + 14 * at, lines[at] as string]);
    expect(await written(drawn)).toBe(lines.join("\n"));
  });

  test("is column by column, also between justified lines, with a line above them on the right", async () => {
    const text = await read("columns");
    expect(text.slice(0, 112)).toBe(
      "# A study of wells in dry districts\n\nInes Moreau and Tomas Lind\n\n## Wells\n\nEvery village was shared by the level",
    );
    const places = [
      "## Wells",
      "Rain paid for",
      "## Pumps",
      "The engineer was",
      "| Well | Depth | Yield |",
      "The survey paid",
    ];
    const found = places.map((part) => text.indexOf(part));
    expect(found).toEqual([...found].sort((one, other) => one - other));
    expect(found).not.toContain(-1);
    expect(text).toContain("The engineer was repaired before the\nlevel of the river.");
    expect(text.match(/^\|/gm)).toHaveLength(5);
  });

  test("keeps the blocks of a letterhead together, and labels beside their values", async () => {
    const text = await read("letter");
    expect(text.split("\n# Invoice\n")[0]?.split("\n")).toEqual([
      "Harbour Optics Ltd",
      "14 Quay Street",
      "Bristol BS1 4RB",
      "United Kingdom",
      "",
      "Invoice number: 2291",
      "Date: 3 March 2026",
      "Due: 2 April 2026",
      "",
    ]);
    expect(text).toContain("Customer: Mill Lane School\nOrder: PO-7781\nDelivery: by rail, to the goods office\n");
    expect(text).toContain("until they are paid.1\n\n1 See the terms of trade, section four.");
  });

  test("of Arabic is from the right, and of figures and Latin words in it from the left", async () => {
    const text = await read("arabic");
    expect(text).toContain("في عام 2024 إلى 1500 زائر (بزيادة 12%)، وكان معظمهم");
    expect(text).toContain("باسم Open Data Report في شهر مارس.");
  });
});

describe("tables", () => {
  test("have cells of several lines, with and without rules, and rows across all columns", async () => {
    expect(await read("ruled")).toContain(
      [
        "| Part | What is looked at | What is done |",
        "| --- | --- | --- |",
        "| Boiler | Pressure of the water, colour of the flame, and any trace of rust around the lower valve | Clean the burner, change the seal of the valve, and write the pressure down on the card |",
        "| Pump | Noise when it starts, and the current that it draws | Grease the bearing every second year |",
        "| Seen by the inspector of the district |  |  |",
        "| Tank | Level, and sediment on the ground of the tank | Flush it when more than a hand of sediment lies there |",
        "",
      ].join("\n"),
    );
    expect(await read("letter")).toContain(
      "| Microscope, student model | 12 | 140.00 | 1,680.00 |\n| Slides, box of fifty |",
    );
  });

  test("are no headings, however their rows are set", async () => {
    const rows = ["Item", "Count", "Price"].map((text, at): [number, number, string, number] => [
      60 + 150 * at,
      100,
      text,
      16,
    ]);
    const cells = ["Lamp", "12", "6.00", "Slide", "30", "8.50", "Wire", "2", "1.10"].map(
      (text, at): [number, number, string, number] => [60 + 150 * (at % 3), 124 + 18 * Math.floor(at / 3), text, 11],
    );
    expect(await written([[60, 60, "Stock", 22], ...rows, ...cells])).toBe(
      "# Stock\n\n| Item | Count | Price |\n| --- | --- | --- |\n| Lamp | 12 | 6.00 |\n| Slide | 30 | 8.50 |\n| Wire | 2 | 1.10 |",
    );
    expect((await read("bold")).match(/^#.*$/gm)).toEqual(["# Rules of the house", "## Quiet hours", "## Kitchen"]);
  });
});

test("a word that the end of a line cuts is put together, and a hyphen that the text has elsewhere stays", async () => {
  const lines = ["The self-made pumps of the dis-", "trict were known. A self-", "made pump is cheap."];
  const text = await written(lines.map((line, at) => [60, 60 + 14 * at, line]));
  expect(text).toBe("The self-made pumps of the district were known. A self-made pump is cheap.");
});

test("what was filled into a form is text of its page", async () => {
  const form = page([[60, 60, "Name:"]])
    .toString("latin1")
    .replace("/Type /Page ", "/Type /Page /Annots [7 0 R] ")
    .replace(
      "xref\n",
      "7 0 obj\n<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Ines Moreau) /DA (/F1 11 Tf) /Rect [110 728 300 744] >>\nendobj\nxref\n",
    )
    .replace("/Type /Catalog ", "/Type /Catalog /AcroForm << /Fields [7 0 R] >> ");
  expect((await convertPdf(Buffer.from(form, "latin1"))).markdown).toBe("Name: Ines Moreau");
});

test("rows that are in no table are given to the other parser, and the better result is kept", async () => {
  const rows = [..."abcdef"].flatMap((letter, row) =>
    [0, 1, 2].map((column): [number, number, string] => [
      60 + 140 * column + 17 * ((row * (column + 1)) % 4),
      80 + 16 * row,
      `${letter}${column} word`,
    ]),
  );
  const { providerTrace, markdown } = await convertDocument(page(rows));
  expect(providerTrace.map(({ provider }) => provider)).toEqual(["parser_a", "parser_b"]);
  expect(providerTrace.filter(({ outcome }) => outcome === "used")).toHaveLength(1);
  for (const [, , text] of rows) expect(markdown).toContain(text);
});
