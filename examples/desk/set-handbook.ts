/**
 * Sets the documentation as one PDF of some hundred pages, which the start page asks about, unless it is there.
 * Next hop: `backend/handbook.ts`, which gives the service nothing but this file. Fonts: Liberation, from pdfjs-dist.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { createCanvas, GlobalFonts, PDFDocument } from "@napi-rs/canvas";
import { fromMarkdown } from "mdast-util-from-markdown";

type Content = ReturnType<typeof fromMarkdown>["children"][number];

/** Read by `backend/handbook.ts`. */
const made = join(import.meta.dirname, ".svc/handbook.pdf");
const docs = join(import.meta.dirname, "../../docs");

/** In points: A4, and its margins. */
const page = { width: 595, height: 842, margin: 72 };
const text = { size: 12, line: 14.5, face: "Liberation Sans" };
const headings = [24, 17, 14, 12, 12, 12];
const ruler = createCanvas(1, 1).getContext("2d");

interface Line {
  words: string;
  font: string;
  height: number;
  /** From the margin. */
  left: number;
}

const fontOf = (size: number, bold = false) => `${bold ? "bold " : ""}${size}px "${text.face}"`;

/** What is read of a node: its text, with line breaks where it has them. */
function wordsOf(node: Content): string {
  if (node.type === "break") return "\n";
  if ("children" in node) return node.children.map(wordsOf).join("");
  return "value" in node ? node.value : "";
}

const widths = new Map<string, number>();

/** Of a word and the space before it. Most of the time would go into measuring the same words. */
function widthOf(word: string, font: string): number {
  const key = `${font} ${word}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  ruler.font = font;
  const { width } = ruler.measureText(` ${word}`);
  widths.set(key, width);
  return width;
}

function wrap(words: string, font: string, height: number, left = 0): Line[] {
  const room = page.width - 2 * page.margin - left;
  const lines: string[] = [];
  for (const paragraph of words.split("\n")) {
    let [line, width] = ["", 0];
    for (const word of paragraph.split(" ")) {
      const more = widthOf(word, font);
      if (line !== "" && width + more > room) {
        lines.push(line);
        [line, width] = ["", 0];
      }
      line = line === "" ? word : `${line} ${word}`;
      width += more;
    }
    lines.push(line);
  }
  return lines.map((words) => ({ words, font, height, left }));
}

/** The rows of a table keep their lines; other line breaks of Markdown are spaces. */
const rowsOrWords = (words: string) =>
  words.startsWith("|")
    ? words
        .replace(/^\|[-| :]+\|\n/m, "")
        .replace(/^\|\s*|\s*\|$/gm, "")
        .replaceAll(" | ", " – ")
    : words.replaceAll("\n", " ");

const space = (height: number): Line => ({ words: "", font: fontOf(text.size), height, left: 0 });

function linesOf(node: Content, left = 0): Line[] {
  const { size, line } = text;
  switch (node.type) {
    case "heading": {
      const height = headings[node.depth - 1] ?? size;
      return [space(height), ...wrap(wordsOf(node), fontOf(height, true), height * 1.4), space(4)];
    }
    case "list":
      return [...node.children.flatMap((item) => item.children.flatMap((child) => linesOf(child, left + 14)))];
    case "code":
      return [...wrap(node.value, fontOf(size - 1), line - 2, left + 10), space(line / 2)];
    case "html":
      return [];
    default:
      return [...wrap(rowsOrWords(wordsOf(node)), fontOf(size), line, left), space(line / 2)];
  }
}

/** The pages for readers, in the order in which one reads them. */
const files = ["tutorial", "how-to", "explanation", "reference"].flatMap((folder) =>
  globSync(`${folder}/**/*.md`, { cwd: docs })
    .filter((name) => !/conformance|advisories/.test(name))
    .sort(),
);

function writeHandbook(): void {
  const fonts = join(dirname(fileURLToPath(import.meta.resolve("pdfjs-dist/package.json"))), "standard_fonts");
  GlobalFonts.registerFromPath(join(fonts, "LiberationSans-Regular.ttf"), text.face);
  GlobalFonts.registerFromPath(join(fonts, "LiberationSans-Bold.ttf"), text.face);
  const pdf = new PDFDocument({ title: "The svc handbook" });
  let at = Number.POSITIVE_INFINITY;
  let context: ReturnType<PDFDocument["beginPage"]> | undefined;
  for (const file of files) {
    at = Number.POSITIVE_INFINITY; // each page of the documentation begins on a new one
    for (const node of fromMarkdown(readFileSync(join(docs, file), "utf8")).children)
      for (const { words, font, height, left } of linesOf(node)) {
        if (words === "" && at === Number.POSITIVE_INFINITY) continue;
        if (!context || at + height > page.height - page.margin) {
          if (context) pdf.endPage();
          context = pdf.beginPage(page.width, page.height);
          at = page.margin;
        }
        at += height;
        context.font = font;
        context.fillText(words, page.margin + left, at);
      }
  }
  pdf.endPage();
  mkdirSync(dirname(made), { recursive: true });
  writeFileSync(made, pdf.close());
}

if (!existsSync(made)) {
  console.log("svc  setting the documentation as a PDF");
  writeHandbook();
}
