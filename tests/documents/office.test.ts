// If this file fails, Office documents lose what people see: numbers of lists, formulas, charts, authors of comments.
import { describe, expect, test } from "vitest";
import { runEngine } from "../../src/documents/engines/run.ts";
import { cell, office, package_, relation, sheets, word, workbook } from "../support/office.ts";

const run = (text: string) => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
const parsers = ["parser_a", "parser_b"] as const;
const space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

describe("lists of a DOCX", () => {
  const level = (at: number, format: string, text: string) =>
    `<w:lvl w:ilvl="${at}"><w:start w:val="1"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
  const numbering = `<w:numbering ${space}>
    <w:abstractNum w:abstractNumId="0">${level(0, "decimal", "%1.")}${level(1, "decimal", "%1.%2.")}${level(2, "bullet", "•")}</w:abstractNum>
    <w:abstractNum w:abstractNumId="1">${level(0, "lowerRoman", "(%1)")}</w:abstractNum>
    <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
    <w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>
    <w:num w:numId="3"><w:abstractNumId w:val="1"/></w:num></w:numbering>`;
  const styles = `<w:styles ${space}><w:style w:type="paragraph" w:styleId="Base"><w:name w:val="Base"/><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr></w:style>
    <w:style w:type="paragraph" w:styleId="Clause"><w:name w:val="Clause"/><w:basedOn w:val="Base"/></w:style></w:styles>`;
  const item = (text: string, list: number, at = 0) =>
    `<w:p><w:pPr><w:numPr><w:ilvl w:val="${at}"/><w:numId w:val="${list}"/></w:numPr></w:pPr>${run(text)}</w:p>`;
  const clause = (text: string) => `<w:p><w:pPr><w:pStyle w:val="Clause"/></w:pPr>${run(text)}</w:p>`;
  const body = [
    item("Wells", 1),
    item("Depth", 1, 1),
    item("By hand", 1, 2),
    item("Yield", 1, 1),
    `<w:p>${run("Between them.")}</w:p>`,
    item("Pumps", 1),
    item("Noise", 1, 1),
    `<w:p>${run("Once more.")}</w:p>`,
    item("Roads", 2),
    clause("The first clause"),
    clause("The second clause"),
  ].join("");

  test.each(parsers)("keep their numbers and levels, those of styles too, by %s", async (engine) => {
    const bytes = await word(body, { "word/numbering.xml": numbering, "word/styles.xml": styles });
    const { markdown, warnings } = await runEngine({ engine, kind: "docx" }, bytes);
    expect(markdown.split("\n").filter(Boolean)).toEqual([
      "1. Wells",
      "    - 1.1. Depth",
      "        - By hand",
      "    - 1.2. Yield",
      "Between them.",
      "2. Pumps",
      "    - 2.1. Noise",
      "Once more.",
      "1. Roads",
      "- (i) The first clause",
      "- (ii) The second clause",
    ]);
    expect(warnings).toEqual([]);
  });
});

test.each(parsers)("a list that begins below 1 is read, by %s", async (engine) => {
  const level = `<w:lvl w:ilvl="0"><w:start w:val="-60"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1."/></w:lvl>`;
  const numbering = `<w:numbering ${space}><w:abstractNum w:abstractNumId="0">${level}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`;
  const body = `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>${run("Wells")}</w:p>`;
  const { markdown } = await runEngine({ engine, kind: "docx" }, await word(body, { "word/numbering.xml": numbering }));
  expect(markdown).toContain("Wells");
});

// PostgreSQL refuses it, as NUL: the document could not be cited.
test.each(parsers)("half of a surrogate pair is replaced, by %s", async (engine) => {
  const { markdown, pages } = await runEngine(
    { engine, kind: "xlsx" },
    await workbook(`<row r="1">${cell("A1", "half &#xD83D; of it")}</row>`),
  );
  expect(markdown).toContain("half \ufffd of it");
  expect(pages.every((page) => page.isWellFormed())).toBe(true);
});

test.each(parsers)("a DOCX keeps hyphens that are shown, and loses those that are not, by %s", async (engine) => {
  const body = `<w:p><w:r><w:t>Donau</w:t><w:softHyphen/><w:t>dampf\u00adschiff, E</w:t><w:noBreakHyphen/><w:t>Mail</w:t></w:r></w:p>`;
  const { markdown } = await runEngine({ engine, kind: "docx" }, await word(body));
  expect(markdown.trim()).toBe("Donaudampfschiff, E\u2011Mail");
});

test.each(parsers)(
  "a DOCX has the base of a ruby, signs of symbol fonts and tabs to a margin, by %s",
  async (engine) => {
    const ruby = `<w:r><w:ruby><w:rubyPr/><w:rt>${run("かんじ")}</w:rt><w:rubyBase>${run("漢字")}</w:rubyBase></w:ruby></w:r>`;
    const signs = [
      `<w:sym w:font="Symbol" w:char="F061"/>`,
      `<w:sym w:char="F0FC" w:font="Wingdings"/>`,
      `<w:sym w:font="Unknown" w:char="F061"/>`,
    ];
    const body = [
      `${run("これは")}${ruby}${run("です")}`,
      `<w:r><w:t xml:space="preserve">angle </w:t>${signs.join("")}</w:r>`,
      `<w:r><w:t>left</w:t><w:ptab w:relativeTo="margin" w:alignment="right"/><w:t>right</w:t></w:r>`,
    ];
    const bytes = await word(body.map((paragraph) => `<w:p>${paragraph}</w:p>`).join(""));
    const { markdown, warnings } = await runEngine({ engine, kind: "docx" }, bytes);
    expect(markdown.trim().split(/\n+/)).toEqual([
      "これは漢字です",
      "angle α✓",
      expect.stringMatching(/^left\sright$/),
    ]);
    expect(warnings).toEqual([]);
  },
);

test.each(parsers)("a DOCX loses hidden text, and nothing that is shown, by %s", async (engine) => {
  const run = (text: string, properties: string) => `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;
  const box = `<w:r><w:rPr><w:vanish/></w:rPr><w:pict><v:textbox xmlns:v="v"><w:txbxContent><w:p>${run("Box.", "")}</w:p></w:txbxContent></v:textbox></w:pict></w:r>`;
  const runs = [
    run("One.", "<w:b/>"),
    run("secret", '<w:b/><w:vanish/><w:sz w:val="20"/>'),
    run("secret", '<w:vanish w:val="true"/>'),
    run("Two.", '<w:vanish w:val="0"/>'),
    run("Three.", '<w:rPrChange w:id="1" w:author="a"><w:rPr><w:vanish/></w:rPr></w:rPrChange>'),
  ];
  const { markdown } = await runEngine(
    { engine, kind: "docx" },
    await word(`<w:p>${runs.join("")}</w:p><w:p>${box}</w:p>`),
  );
  expect(markdown).not.toContain("secret");
  expect(markdown.replaceAll(/[*_\s]/g, "")).toContain("One.Two.Three.");
});

test("HTML loses its soft hyphens", async () => {
  const { markdown } = await runEngine({ engine: "local_text", kind: "html" }, Buffer.from("<p>Donau&shy;dampf</p>"));
  expect(markdown.trim()).toBe("Donaudampf");
});

test.each(parsers)("formulas of a DOCX are LaTeX in their place, by %s", async (engine) => {
  const m = (text: string) => `<m:r><m:t>${text}</m:t></m:r>`;
  const power = `<m:sSup><m:e>${m("r")}</m:e><m:sup>${m("2")}</m:sup></m:sSup>`;
  const half = `<m:f><m:num>${m("1")}</m:num><m:den>${m("x_1")}</m:den></m:f>`;
  const root = `<m:rad><m:radPr><m:degHide m:val="1"/></m:radPr><m:deg/><m:e>${m("a&lt;b")}</m:e></m:rad>`;
  const sum = `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>${m("n")}</m:sub><m:sup>${m("9")}</m:sup><m:e>${m("n")}</m:e></m:nary>`;
  const math = (content: string) => `<m:oMath>${content}</m:oMath>`;
  const bytes = await word(
    [
      `<w:p>${run("The area ")}${math(m("A=π") + power)}${run(" is known, and ")}${math(half)}${run(" too.")}</w:p>`,
      `<w:p><m:oMathPara>${math(root)}</m:oMathPara></w:p>`,
      `<w:p><m:oMathPara>${math(sum)}</m:oMathPara></w:p>`,
    ].join(""),
  );
  const { markdown } = await runEngine({ engine, kind: "docx" }, bytes);
  expect(markdown.split("\n").filter(Boolean)).toEqual([
    "The area $A=πr^{2}$ is known, and $\\frac{1}{x_1}$ too.",
    "$$\\sqrt{a&lt;b}$$",
    "$$\\sum_{n}^{9} n$$",
  ]);
});

describe("an XLSX", () => {
  const rows = [
    `<row r="1">${cell("A1", "Year")}${cell("B1", "Ducks")}</row>`,
    `<row r="2">${cell("A2", "2019")}${cell("B2", "120")}</row>`,
  ].join("");
  const links = (...all: [type: string, target: string][]) =>
    `<Relationships xmlns="${package_}/relationships">${all
      .map(([type, target], at) => `<Relationship Id="r${at + 1}" Type="${office}/${type}" Target="${target}"/>`)
      .join("")}</Relationships>`;
  const read = async (bytes: Promise<Buffer>) => runEngine({ engine: "parser_b", kind: "xlsx" }, await bytes);

  test("has charts with their titles and points, and text of shapes", async () => {
    const points = (values: string[]) =>
      values.map((text, at) => `<c:pt idx="${at}"><c:v>${text}</c:v></c:pt>`).join("");
    const title = (text: string) =>
      `<c:title><c:tx><c:rich><a:p><a:r><a:t>${text}</a:t></a:r></a:p></c:rich></c:tx></c:title>`;
    const chart = `<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart>${title("Ducks on the lake")}<c:plotArea><c:bar3DChart><c:ser>
      <c:tx><c:strRef><c:strCache>${points(["Ducks"])}</c:strCache></c:strRef></c:tx><c:cat>${points(["2019", "2020"])}</c:cat>
      <c:val>${points(["120", "0.30000000000000004"])}</c:val></c:ser></c:bar3DChart><c:catAx>${title("Year")}</c:catAx></c:plotArea></c:chart></c:chartSpace>`;
    const at = (row: number) => `<x:from><x:col>0</x:col><x:row>${row}</x:row></x:from>`;
    const drawing = `<x:wsDr xmlns:x="x" xmlns:a="a" xmlns:c="c" xmlns:r="${office}">
      <x:twoCellAnchor>${at(20)}<x:sp><x:txBody><a:p><a:r><a:t>Counted in spring.</a:t></a:r></a:p></x:txBody></x:sp></x:twoCellAnchor>
      <x:twoCellAnchor>${at(4)}<c:chart r:id="r1"/></x:twoCellAnchor></x:wsDr>`;
    const parts = {
      "xl/worksheets/_rels/sheet1.xml.rels": relation("drawing", "../drawings/drawing1.xml"),
      "xl/drawings/drawing1.xml": drawing,
      "xl/drawings/_rels/drawing1.xml.rels": relation("chart", "../charts/chart1.xml"),
      "xl/charts/chart1.xml": chart,
    };
    const bytes = await workbook(rows, [], parts);
    expect(await runEngine({ engine: "parser_a", kind: "xlsx" }, bytes)).toMatchObject({
      poor: "It drops charts and shapes.",
    });
    expect((await read(Promise.resolve(bytes))).markdown.split("\n\n").slice(2)).toEqual([
      "**Ducks on the lake** (bar chart, Year)",
      "|  | Ducks |\n| --- | --- |\n| 2019 | 120 |\n| 2020 | 0.3 |",
      "Counted in spring.",
    ]);
  });

  test("has the authors and dates of a thread of comments", async () => {
    const place = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments";
    const thread = (by: string, text: string) =>
      `<threadedComment ref="B2" dT="2026-06-18T17:12:37" personId="${by}" id="t"><text>${text}</text></threadedComment>`;
    const { markdown, warnings } = await read(
      workbook(rows, [], {
        "xl/worksheets/_rels/sheet1.xml.rels": links(
          ["comments", "../comments1.xml"],
          ["threadedComment", "../threadedComments/threadedComment1.xml"],
        ),
        "xl/comments1.xml": `<comments xmlns="${sheets}"><authors><author>tc={1}</author><author>Ben</author></authors><commentList>
          <comment ref="A1" authorId="1"><text><t>An old note</t></text></comment>
          <comment ref="B2" authorId="0"><text><t>[Threaded comment] Comment: So few? Reply: It was cold.</t></text></comment></commentList></comments>`,
        "xl/threadedComments/threadedComment1.xml": `<ThreadedComments xmlns="${place}">${thread("a", "So few?")}${thread("b", "It was cold.")}</ThreadedComments>`,
        "xl/persons/person.xml": `<personList xmlns="${place}"><person displayName="Ann" id="a"/><person displayName="Cleo" id="b"/></personList>`,
      }),
    );
    expect(markdown.split("\n\n").slice(2)).toEqual([
      "Comment (A1, Ben): An old note",
      "Comment (B2, Ann, 2026-06-18): So few?",
      "Comment (B2, Cleo, 2026-06-18): It was cold.",
    ]);
    expect(warnings).toEqual([]);
  });

  test("says which hidden sheets were left out", async () => {
    const entries = `<sheet name="Open" sheetId="1" r:id="r1"/><sheet name="Margins" sheetId="2" state="veryHidden" r:id="r2"/>`;
    const bytes = await workbook(rows, [], {
      "xl/workbook.xml": `<workbook xmlns="${sheets}" xmlns:r="${office}"><sheets>${entries}</sheets></workbook>`,
      "xl/_rels/workbook.xml.rels": links(
        ["worksheet", "worksheets/sheet1.xml"],
        ["worksheet", "worksheets/sheet2.xml"],
      ),
      "xl/worksheets/sheet2.xml": `<worksheet xmlns="${sheets}"><sheetData><row r="1">${cell("A1", "Our margin is 40%")}</row></sheetData></worksheet>`,
    });
    expect((await runEngine({ engine: "parser_a", kind: "xlsx" }, bytes)).poor).not.toBeNull();
    const { markdown, warnings } = await read(Promise.resolve(bytes));
    expect(markdown).not.toMatch(/margin/i);
    expect(warnings[0]).toBe('The hidden sheet "Margins" was left out.');
  });

  test("shows a duration as hours, minutes and seconds, and not as a date", async () => {
    const formats = `<numFmts count="2"><numFmt numFmtId="164" formatCode="[h]:mm"/><numFmt numFmtId="165" formatCode="[Red]yyyy-mm-dd"/></numFmts>`;
    const styles = `<styleSheet xmlns="${sheets}">${formats}<cellXfs><xf numFmtId="164"/><xf numFmtId="46"/><xf numFmtId="165"/><xf numFmtId="20"/></cellXfs></styleSheet>`;
    const days = [1.6875, 0.25, 46_000, 0].map(
      (one, style) => `<c r="${"BCDE"[style]}1" s="${style}"><v>${one}</v></c>`,
    );
    const bytes = await workbook(`<row r="1">${cell("A1", "Hours")}${days.join("")}</row>`, [], {
      "xl/styles.xml": styles,
    });
    expect((await runEngine({ engine: "parser_a", kind: "xlsx" }, bytes)).poor).toBe("It shows durations as dates.");
    expect((await read(Promise.resolve(bytes))).markdown).toContain(
      "| Hours | 40:30:00 | 6:00:00 | 2025-12-09 | 00:00:00 |",
    );
  });

  test("is read without positions of cells and rows, which some programs leave out", async () => {
    const line = (...cells: string[]) => `<row>${cells.join("")}</row>`;
    const text = (one: string) => `<c t="inlineStr"><is><t>${one}</t></is></c>`;
    const all = [
      line(text("Name"), text("Age")),
      "<row/>",
      line(),
      line(text("Ann"), "<c><v>5</v></c>", cell("D4", "x")),
    ];
    const { markdown, warnings } = await read(workbook(all.join("")));
    expect(markdown.split("\n\n").slice(1)).toEqual([
      "| Name | Age |\n| --- | --- |",
      "| Ann | 5 |\n| --- | --- |",
      "| x |\n| --- |",
    ]);
    expect(warnings).toEqual([]);
  });

  test("is read beside a link whose address is none", async () => {
    const links = `<Relationships xmlns="${package_}/relationships"><Relationship Id="r1" Type="${office}/hyperlink" TargetMode="External" Target="http://host:port/"/></Relationships>`;
    const { markdown } = await read(
      workbook(`<row r="1">${cell("A1", "Wells")}</row>`, [], { "xl/worksheets/_rels/sheet1.xml.rels": links }),
    );
    expect(markdown).toContain("Wells");
  });

  test("has a merged row once, above its table and inside of it", async () => {
    const row = (at: number, ...texts: string[]) =>
      `<row r="${at}">${texts.map((text, column) => cell(`${"ABC"[column]}${at}`, text)).join("")}</row>`;
    const all = [
      row(1, "Sales"),
      row(2, "of the year"),
      row(3, "Month", "North", "South"),
      row(4, "Spring"),
      row(5, "May", "1", "2"),
    ];
    const { markdown } = await read(workbook(all.join(""), ["A1:C1", "A2:C2", "A4:C4"]));
    expect(markdown.split("\n\n").slice(1)).toEqual([
      "**Sales**",
      "**of the year**",
      "| Month | North | South |\n| --- | --- | --- |\n| **Spring** |  |  |\n| May | 1 | 2 |",
    ]);
  });

  test("with merged ranges that cover too many cells is refused by an error that names the limit", async () => {
    const all = Array.from({ length: 6_000 }, (_, at) => `<row r="${at + 1}">${cell(`A${at + 1}`, "x")}</row>`);
    const merges = all.map((_, at) => `A${at + 1}:CV${at + 1}`);
    await expect(read(workbook(all.join(""), merges))).rejects.toMatchObject({
      code: "DOCUMENT_UNREADABLE",
      message: "A sheet has more than 500000 cells. Split it.",
    });
  });
});
