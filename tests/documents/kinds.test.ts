// If this file fails, text becomes mojibake, active content survives, or the error for an unsupported kind of file does
// not say what to do instead.
import iconv from "iconv-lite";
import { describe, expect, test } from "vitest";
import { makePdf } from "../../bench/documents/make-pdf.ts";
import { convertDocument } from "../../src/documents/convert.ts";
import { decodeText } from "../../src/documents/engines/charset.ts";
import { parseCsv } from "../../src/documents/engines/csv.ts";
import { cutSections, plainText } from "../../src/documents/sections.ts";
import { neutralise } from "../../src/text/neutralise.ts";

const korean = "국회 내 폭력행사 방지를 위한 법 제정도 논의됐다. 똠방각하의 이야기는 끝나지 않았다.";
const japanese = "名前と年齢を書いてください。カタカナも漢字も読めます。";

describe("text", () => {
  test.each([
    ["utf8", korean],
    ["utf16le", "Latin letters with a few others: 名前"],
    ["cp949", korean],
    ["euc-kr", korean.replace("똠", "")],
    ["shift_jis", japanese],
    ["windows-1252", "Café à Málaga, naïve façade: a text of Western Europe with some accents in it"],
  ])("in %s comes out as it was", (encoding, text) => {
    expect(decodeText(iconv.encode(text, encoding))).toBe(text);
  });

  test.each(["utf8", "utf16le", "utf16be"])("in %s with a mark comes out without it", (encoding) => {
    expect(decodeText(iconv.encode(korean, encoding, { addBOM: true }))).toBe(korean);
  });

  test.each([
    [
      "Korean, with Hanja",
      "大韓民國은 民主共和國이다. 大韓民國의 主權은 國民에게 있다.",
      ["cp949", "utf16le", "utf16be"],
    ],
    ["a table of names", "번호,성명\n1,김철수\n2,박영희\n", ["cp949", "utf16le", "utf16be"]],
    ["Japanese", "名前,年齢\n佐藤太郎,30\n", ["shift_jis", "utf16le", "utf16be"]],
    ["Russian", "Все люди рождаются свободными и равными.", ["utf16le", "utf16be"]],
    ["German", "Alle Menschen sind frei und gleich an Würde geboren, müssen größer sein.", ["windows-1252", "utf16le"]],
    ["Polish", "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności. Są oni obdarzeni.", ["utf16le"]],
    ["Chinese", "姓名,年龄\n张伟,30\n", ["utf16be"]],
    ["more Chinese", "中华人民共和国公民在法律面前一律平等。\n国家尊重和保障人权。", []],
  ])("%s is read in the encodings that are known, and in no other is it anything else", (_, text, known) => {
    const encodings =
      "cp949 shift_jis euc-jp gbk gb18030 big5 koi8-r windows-1251 windows-1252 iso-8859-2 windows-1250";
    const outcome = (encoding: string) => {
      const bytes = iconv.encode(text, encoding);
      if (iconv.decode(bytes, encoding) !== text) return "not writable";
      try {
        return decodeText(bytes) === text ? "read" : "mojibake";
      } catch {
        return "refused";
      }
    };
    expect(encodings.split(" ").filter((encoding) => outcome(encoding) === "mojibake")).toEqual([]);
    expect(known.map(outcome)).toEqual(known.map(() => "read"));
  });

  test("in Johab is refused", async () => {
    await expect(convertDocument(johab(korean), { filename: "a.txt" })).rejects.toMatchObject({
      code: "DOCUMENT_UNREADABLE",
    });
  });

  test("a binary file is no text", async () => {
    const bytes = Buffer.from(Array.from({ length: 2000 }, (_, at) => (at * 37) % 32));
    await expect(convertDocument(bytes)).rejects.toMatchObject({ code: "DOCUMENT_UNREADABLE" });
  });
});

// A workflow of the application stores it with `wf.rag.ingest` or in a table, and PostgreSQL refuses NUL.
test("NUL is left out, and headings are still found where they are", async () => {
  const bytes = Buffer.from(
    "\0Intro\0duction\n\n# Fees\n\nA boat pays 12 euros per night in every harbour of the lake.\n",
  );
  const { markdown, text, sections } = await convertDocument(bytes, { filename: "fees.md" });
  expect([markdown.slice(0, 12), text.includes("\0")]).toEqual(["Introduction", false]);
  expect(markdown.slice(sections[0]?.offset)).toMatch(/^# Fees/);
});

/** Syllables by their parts: five bits each for initial, vowel and final. */
function johab(text: string): Buffer {
  const vowels = [3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 18, 19, 20, 21, 22, 23, 26, 27, 28, 29];
  const bytes = [...text].flatMap((sign) => {
    const at = sign.charCodeAt(0) - 0xac00;
    if (at < 0 || at > 11_171) return [sign.charCodeAt(0)];
    const final = at % 28;
    const vowel = vowels[Math.floor(at / 28) % 21] as number;
    const code = 0x8000 | ((Math.floor(at / 588) + 2) << 10) | (vowel << 5) | (final + (final > 16 ? 2 : 1));
    return [code >> 8, code & 255];
  });
  return Buffer.from(bytes);
}

test.each([
  ["csv", "PK;Name\n1;Ann\n"],
  ["txt", "BMW builds cars."],
  ["md", "# How to tell a PDF\n\nIt begins with %PDF-1.7 and ends with %%EOF.\n"],
])("a text that begins like another kind of file is a text: %s", async (kind, text) => {
  const { markdown, providerTrace } = await convertDocument(Buffer.from(text), { filename: `a.${kind}` });
  expect(markdown).toContain(text.split(/[;\n]/)[0]);
  expect(providerTrace).toMatchObject([{ provider: "local_text", outcome: "used" }]);
});

describe("what is not converted says what to use instead", () => {
  const compound = (stream: string) =>
    Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(512), Buffer.from(stream, "utf16le")]);
  test.each([
    ["PNG", Buffer.from("89504e470d0a1a0a", "hex"), "ai.vision.extractText"],
    ["JPEG", Buffer.from("ffd8ffe000104a46", "hex"), "ai.vision.extractText"],
    ["GIF", Buffer.from("GIF89a\u0001\u0000"), "ai.vision.extractText"],
    ["BMP", Buffer.from("424d9e0000000000000036000000", "hex"), "ai.vision.extractText"],
    ["HEIC", Buffer.from("\u0000\u0000\u0000\u0018ftypheic\u0000\u0000\u0000\u0000mif1heic"), "ai.vision.extractText"],
    ["WebP", Buffer.from("RIFF\u0000\u0000\u0000\u0000WEBPVP8 "), "ai.vision.extractText"],
    ["DOC", compound("WordDocument"), ".docx"],
    ["XLS", compound("Workbook"), ".xlsx"],
    ["PPT", compound("PowerPoint Document"), "PDF"],
    ["RTF", Buffer.from("{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\f0 Words\\par}"), ".docx"],
  ])("%s", async (_, bytes, instead) => {
    await expect(convertDocument(bytes)).rejects.toMatchObject({
      code: "UNSUPPORTED_MEDIA_TYPE",
      hint: expect.stringContaining(instead),
    });
  });

  test.each([
    ["PPTX", "ppt/presentation.xml", "A presentation (.pptx)", "Export it as PDF."],
    ["ODT, ODS and ODP", "content.xml", "An OpenDocument file (.odt, .ods or .odp)", "Save it as .docx, .xlsx or PDF."],
    ["XLSB", "xl/workbook.bin", "A binary workbook (.xlsb)", "Save it as .xlsx."],
    ["another zip", "notes.txt", "This kind of zip", "Convert the documents in it one by one."],
  ])("%s", async (_, part, what, hint) => {
    const { default: JsZip } = await import("jszip");
    const bytes = await new JsZip().file(part, "<a/>").generateAsync({ type: "nodebuffer" });
    await expect(convertDocument(bytes)).rejects.toMatchObject({
      code: "UNSUPPORTED_MEDIA_TYPE",
      message: expect.stringContaining(what),
      hint,
    });
  });
});

describe("what a browser would act on", () => {
  test.each([
    ["<script>alert(1)</script>", "script"],
    ["a <img src=x onerror=alert(1)> b", "tag"],
    ["> <div\n> onclick=alert(1)>", "tag in a quote"],
    ["[a](javascript:alert(1))", "link"],
    ["[a](<JaVa\tScript:alert(1)>)", "spaced scheme"],
    ["[a](java&#115;cript:alert(1))", "encoded scheme"],
    ["![a](data:text/html;base64,PHNjcmlwdD4=)", "image"],
    ["[a]\n\n[a]: vbscript:x", "definition"],
    ["<javascript:alert(1)>", "automatic link"],
    ["<div>\n[a](javascript:alert(1))\n</div>", "link in HTML"],
  ])("%j is neutralised (%s)", (markdown) => {
    const clean = neutralise(markdown);
    expect(clean).not.toMatch(/<[a-z/!]/i);
    expect(clean).not.toMatch(/\]\(\s*<?(java|data|vb)|\]:\s*(java|data|vb)/i);
    expect(neutralise(clean)).toBe(clean);
  });

  test.each(["[a](https://example.com/?q=1)", "[b](#part)", "| a<br>b |", "`<b>` in code", "1 < 2 and 3 > 2"])(
    "%s stays",
    (markdown) => expect(neutralise(markdown)).toBe(markdown),
  );

  test.each([
    ["<<A\\_1>>", "&lt;&lt;A\\_1>>"],
    ["a \\<b> c", "a &lt;b> c"],
  ])("%j is text, and stays so for those who look for tags: %j", (markdown, clean) => {
    expect(neutralise(markdown)).toBe(clean);
  });

  test("blocks of HTML in Markdown become Markdown; tags inside of lines become text", async () => {
    const table = "<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td>2</td></tr>\n</table>";
    const html = `# Title\n\n${table}\n\n<div>words</div>\n\n<script>alert(1)</script>\n\nUse <name> here.\n`;
    const { markdown } = await convertDocument(Buffer.from(html), { filename: "a.md" });
    expect(markdown.replace(/\n{2,}/g, "\n\n").trim()).toBe(
      "# Title\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nwords\n\nUse &lt;name> here.",
    );
  });

  test("HTML loses its scripts, styles and frames, and keeps its words", async () => {
    const html = `<!doctype html><style>p{}</style><h1 onclick="x()">Title</h1><script>alert(1)</script>
      <p>Words &lt;b&gt; <a href="javascript:alert(1)">link</a></p><iframe src="https://example.com"></iframe>
      <table><tr><th>a</th><th>b</th></tr><tr><td colspan="2">wide</td></tr></table>`;
    const { markdown } = await convertDocument(Buffer.from(html));
    expect(markdown).toContain("# Title");
    expect(markdown).toContain("| a | b |\n| --- | --- |\n| wide | wide |");
    expect(markdown).toContain("link");
    expect(markdown).not.toMatch(/alert|javascript|(?<!\\)<[a-z]/i);
  });
});

test("a PDF of more pages than are read at once comes out whole, and in order", async () => {
  const { pages, markdown, providerTrace } = await convertDocument(makePdf(103));
  expect(providerTrace).toMatchObject([{ provider: "parser_a", outcome: "used" }]);
  expect(pages).toHaveLength(103);
  expect([...markdown.matchAll(/Chapter (\d+)/g)].map(([, number]) => Number(number))).toEqual(
    Array.from({ length: 103 }, (_, at) => at + 1),
  );
  expect(markdown).toContain(" 102.43.");
});

test("a PDF with a password is told as such, wherever its trailer keeps the key", async () => {
  const objects = [
    "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj",
    "2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj",
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj",
    `4 0 obj<</Filter/Standard/V 1/R 2/O(${"o".repeat(32)})/U(${"u".repeat(32)})/P -4>>endobj`,
  ];
  for (const key of ["4 0 R", objects[3]?.slice(7, -6)]) {
    const pdf = `%PDF-1.4\n${objects.join("\n")}\ntrailer<</Size 5/Root 1 0 R/Encrypt ${key}/ID[(a)(b)]>>\n%%EOF`;
    await expect(convertDocument(Buffer.from(pdf))).rejects.toMatchObject({ code: "DOCUMENT_ENCRYPTED" });
  }
});

test("CSV keeps separators in quotes, and takes the one that its lines use", () => {
  expect(parseCsv('a,b\n"1,5","x ""y"""\n')).toEqual([
    ["a", "b"],
    ["1,5", 'x "y"'],
  ]);
  expect(parseCsv("a;b\n1,5;2\n")).toEqual([
    ["a", "b"],
    ["1,5", "2"],
  ]);
});

test("sections are the headings outside code, with their places", () => {
  const markdown = "# One\n\n```\n# no\n```\n\n## **Two**\n";
  expect(cutSections(markdown)).toEqual([
    { level: 1, title: "One", offset: 0 },
    { level: 2, title: "Two", offset: markdown.indexOf("## ") },
  ]);
  expect(plainText("## **Bold** \\* [a](https://x)\n\n| a | b |\n| --- | --- |\n| 1 | 2 |")).toBe(
    "Bold * a\n\na\tb\n1\t2",
  );
});
