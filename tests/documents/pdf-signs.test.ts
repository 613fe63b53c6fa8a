// If this file fails, letters, figures or values of a PDF are lost, or stand in another order than people read them in.
import { describe, expect, test } from "vitest";
import { convertPdf } from "../../src/documents/engines/pdf.ts";
import { pdf } from "../support/papers.ts";

interface Paper {
  /** Of its dictionary. */
  page?: string;
  catalog?: string;
  /** More fonts by name: of numbers of `objects`, which begin with 6. */
  fonts?: string;
  objects?: string[];
}

const streamOf = (text: string) => `<< /Length ${text.length} >>\nstream\n${text}\nendstream`;

async function read(content: string, { page = "", catalog = "", fonts = "", objects = [] }: Paper = {}) {
  const more = objects.map((object, at) => `${6 + at} 0 obj\n${object}\nendobj\n`).join("");
  const paper = pdf([["PLACE"]])
    .toString("latin1")
    .replace(/<< \/Length \d+ >>\nstream\n[\s\S]*?\nendstream/, () => streamOf(content))
    .replace("/Type /Page ", () => `/Type /Page ${page} `)
    .replace("/Type /Catalog ", () => `/Type /Catalog ${catalog} `)
    .replace("/F1 3 0 R", () => `/F1 3 0 R ${fonts}`)
    .replace("/BaseFont /Helvetica", "/BaseFont /Helvetica /Encoding /WinAnsiEncoding")
    .replace("xref\n", () => `${more}xref\n`);
  return (await convertPdf(Buffer.from(paper, "latin1"))).markdown;
}
const at = (x: number, y: number, text: string) => `BT /F1 11 Tf 1 0 0 1 ${x} ${y} Tm (${text}) Tj ET `;
const hex = (number: number) => number.toString(16).padStart(4, "0");

/** A font /F2 of these signs, and the code of each. */
function fontOf(signs: string[], encoding = "Identity-H") {
  const known = [...new Set(signs)];
  const lines = known.map(
    (sign, code) => `<${hex(code + 1)}> <${Buffer.from(sign, "utf16le").swap16().toString("hex")}>`,
  );
  const map = `begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange ${known.length} beginbfchar ${lines.join(" ")} endbfchar endcmap`;
  const system = "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>";
  const paper = {
    fonts: "/F2 6 0 R",
    objects: [
      `<< /Type /Font /Subtype /Type0 /BaseFont /Drawn /Encoding /${encoding} /DescendantFonts [7 0 R] /ToUnicode 8 0 R >>`,
      `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Drawn ${system} /DW 500 /DW2 [880 -1000] >>`,
      streamOf(map),
    ],
  };
  const draw = (x: number, y: number, text: string[]) =>
    `BT /F2 12 Tf 1 0 0 1 ${x} ${y} Tm <${text.map((sign) => hex(known.indexOf(sign) + 1)).join("")}> Tj ET `;
  return { paper, draw };
}
const reversed = (text: string) => [...text].reverse();

describe("a page", () => {
  const lines = ["First line of it.", "Second line of it.", "Third line of it."];
  test.each([0, 90, 180, 270])(
    "that is turned by %i degrees against its text is read as if it was not",
    async (turn) => {
      const content = lines.map((line, row) => at(60, 700 - 14 * row, line)).join("");
      expect(await read(content, { page: `/Rotate ${turn}` })).toBe(lines.join("\n"));
    },
  );

  test("on which text runs from top to bottom is read from the right", async () => {
    const columns = ["日本語縦書き。", "「中」文字例"].map((text) => [...text]);
    const { paper, draw } = fontOf(columns.flat(), "Identity-V");
    const content = columns.map((column, at) => draw(500 - 20 * at, 700, column)).join("");
    expect(await read(content, paper)).toBe("日本語縦書き。\n「中」文字例");
  });

  test("has not what stands outside of its crop box", async () => {
    const content = at(60, 700, "Shown.") + at(60, 780, "plate 4.indd");
    expect(await read(content, { page: "/CropBox [0 0 612 760]" })).toBe("Shown.");
  });
});

describe("letters", () => {
  test("with a negative size are not turned", async () => {
    const content = ["One line.", "Another line."].map(
      (line, row) => `BT /F1 -11 Tf -1 0 0 -1 60 ${700 - 14 * row} Tm (${line}) Tj ET `,
    );
    expect(await read(content.join("") + at(60, 672, "The last line."))).toBe(
      "One line.\nAnother line.\nThe last line.",
    );
  });

  test("of a font of drawings have the signs of their codes", async () => {
    const font =
      "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /FirstChar 97 /LastChar 98 /Widths [0.6 0.6] /Encoding << /Differences [97 /a /b] >> /CharProcs << /a 7 0 R /b 7 0 R >> >>";
    const content = "BT /F2 11 Tf 1 0 0 1 60 700 Tm (abba) Tj ET ";
    const objects = [font, streamOf("0.6 0 d0 0 0 .5 .7 re f")];
    expect(await read(content + at(60, 686, "Text."), { fonts: "/F2 6 0 R", objects })).toContain("abba");
  });

  test("with an accent that is drawn over them are one sign", async () => {
    const [first, ...rest] = ["(Universit)-50(\\250)390(at)", "(K)-50(\\250)390(oln)"].map(
      (text, row) => `BT /F1 11 Tf 1 0 0 1 60 ${700 - 14 * row} Tm [${text}] TJ ET `,
    );
    const apart = at(60, 672, "caf") + at(76.5, 672, "\\264") + at(75.6, 672, "e is here");
    expect(await read(first + rest.join("") + apart)).toBe("Universität\nKöln\ncafé is here");
  });

  test("that are lowered stand in their line, also beside raised ones", async () => {
    const content =
      "BT /F1 11 Tf 1 0 0 1 60 700 Tm (E = mc) Tj /F1 7 Tf 4 Ts (2) Tj 0 Ts /F1 11 Tf ( and H) Tj /F1 7 Tf -2 Ts (2) Tj 0 Ts /F1 11 Tf (O.) Tj ET";
    expect(await read(content)).toBe("E = mc2 and H2O.");
  });

  test("that are bullets of Symbol and Wingdings begin items, and do not make short lists unreadable", async () => {
    const items = ["\uf0b7 Nail", "\uf0a7 Cord", "\uf0d8 Saw", "\uf076 Oil"].map((text) => [...text]);
    const { paper, draw } = fontOf(items.flat());
    const content = items.map((item, row) => draw(60, 700 - 14 * row, item)).join("");
    expect(await read(content, paper)).toBe("- Nail\n\n- Cord\n\n- Saw\n\n- Oil");
  });

  test("and tabs of a font that does not know them are a space, and U+0002 is no hyphen", async () => {
    expect(await read(at(60, 700, "before\\tafter"))).toBe("before after");
    expect(await read(at(60, 700, "be\\002fore"))).toBe("be\ufffdfore");
  });
});

describe("text from right to left", () => {
  test.each(["٢٠٢٤", "۱۴۰۳"])("has the figures %s from left to right", async (figures) => {
    const line = [...reversed(" زائر"), ...figures, ...reversed("عام ")];
    const { paper, draw } = fontOf(line);
    expect(await read(draw(200, 700, line), paper)).toBe(`عام ${figures} زائر`);
  });

  test("is read from the right, also in a line that is mostly Latin", async () => {
    const [around, mixed] = [
      reversed("זוהי השורה הראשונה של הטקסט"),
      [...reversed("ובו"), ..." Open Data Report ", ...reversed("הדוח")],
    ];
    const { paper, draw } = fontOf([...around, ...mixed]);
    const text = await read(draw(200, 700, around) + draw(200, 684, mixed), paper);
    expect(text.split("\n").at(-1)).toBe("הדוח Open Data Report ובו");
  });
});

test("one that is locked in a way that PDFium does not know is encrypted, and not damaged", async () => {
  const locked = pdf([["Text"]])
    .toString("latin1")
    .replace("/Root 1 0 R", "/Root 1 0 R /Encrypt << /Filter /Adobe.PubSec /SubFilter /adbe.pkcs7.s5 /V 4 >>");
  await expect(convertPdf(Buffer.from(locked, "latin1"))).rejects.toMatchObject({ code: "DOCUMENT_ENCRYPTED" });
});

describe("of fields of a form,", () => {
  const filled = (field: string, form = "/Fields [6 0 R]") =>
    read(at(60, 700, "Name:"), {
      page: "/Annots [6 0 R]",
      catalog: `/AcroForm << ${form} >>`,
      objects: [`<< /Type /Annot /Subtype /Widget /Rect [110 695 300 715] /DA (/F1 11 Tf) ${field} >>`],
    });

  test("the shown label of a choice is read", async () => {
    const options = "/FT /Ch /T (n) /Opt [[(a) (Label A)] [(b) (Label B)] [(c) (Label C)]]";
    expect(await filled(`${options} /Ff 131072 /V (b)`)).toBe("Name: Label B");
    expect(await filled(`${options} /Ff 2097152 /V [(a) (c)]`)).toBe("Name: Label A, Label C");
    expect(await filled("/FT /Ch /T (n) /Opt [(a)] /Ff 393216 /V (own words)")).toBe("Name: own words");
  });

  test("those that the form does not list are read, and hidden ones are not", async () => {
    expect(await filled("/FT /Tx /T (n) /V (Ines)", "/Fields []")).toBe("Name: Ines");
    expect(await filled("/FT /Btn /T (n) /V /Yes /AS /Yes", "/Fields []")).toBe("Name:");
    for (const flag of [2, 32]) expect(await filled(`/FT /Tx /T (n) /V (Ines) /F ${flag}`)).toBe("Name:");
  });

  test("those of passwords are not read, also if the form does not list them", async () => {
    const password = "/FT /Tx /T (n) /V (secret) /Ff 8192";
    for (const form of ["/Fields [6 0 R]", "/Fields []"]) expect(await filled(password, form)).toBe("Name:");
    // 4096: several lines. The type, flags and value may also be those of the field above.
    expect(await filled("/FT /Tx /T (n) /V (Ines) /Ff 4096")).toBe("Name: Ines");
    expect(await filled(`/Parent << ${password} /Kids [6 0 R] >>`)).toBe("Name:");
  });
});
