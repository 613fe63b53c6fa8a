/**
 * The second parser for PDF: paragraphs, headings by letter size, and tables of lines in columns. Simpler than the
 * first one, but complete: it keeps every line of the text layer, in order.
 */
import { pipeTable } from "../html-tables.ts";
import type { Converted } from "./converted.ts";
import { openPdf, type PdfLine, readPages } from "./pdf-text.ts";

export async function convertPdf(bytes: Buffer): Promise<Converted> {
  const document = await openPdf(bytes);
  const pages = await readPages(document, 1, document.numPages).finally(() => document.loadingTask.destroy());
  const body = bodyHeight(pages.flat());
  const written = pages.map((lines) => writePage(lines, body));
  const empty = written.filter((page) => page === "").length;
  const warnings = empty > 0 ? [`${empty} of ${written.length} pages have no text of their own.`] : [];
  const isScanned = written.length > 0 && empty === written.length;
  return {
    markdown: written.filter(Boolean).join("\n\n"),
    pages: written,
    warnings,
    poor: isScanned ? "The pages are pictures." : null,
  };
}

/** The height of most letters. */
function bodyHeight(lines: PdfLine[]): number {
  const letters = new Map<number, number>();
  for (const { height, text } of lines) {
    const rounded = Math.round(height * 2) / 2;
    letters.set(rounded, (letters.get(rounded) ?? 0) + text.length);
  }
  return [...letters].sort((one, other) => other[1] - one[1])[0]?.[0] ?? 10;
}

function writePage(lines: PdfLine[], body: number): string {
  const blocks: string[] = [];
  let paragraph: PdfLine[] = [];
  const flush = () => {
    if (paragraph.length > 0) blocks.push(writeParagraph(paragraph, body));
    paragraph = [];
  };
  for (let at = 0; at < lines.length; at++) {
    const table = tableAt(lines, at);
    if (table.length > 0) {
      flush();
      blocks.push(writeTable(table));
      at += table.length - 1;
      continue;
    }
    const line = lines[at] as PdfLine;
    const last = paragraph.at(-1);
    if (last && !belongs(last, line)) flush();
    paragraph.push(line);
  }
  flush();
  return blocks.join("\n\n");
}

/** Whether a line continues the paragraph of the previous line: same height, and just below or beside it. */
function belongs(last: PdfLine, line: PdfLine): boolean {
  const drop = last.y - line.y;
  const isNear = drop > -last.height * 0.5 && drop < Math.max(last.height, line.height) * 1.7;
  return (
    isNear && Math.abs(last.height - line.height) < 0.15 * last.height && !/^\s*([•‣▪–-]|\d+[.)])\s/.test(line.text)
  );
}

function writeParagraph(lines: PdfLine[], body: number): string {
  const text = lines.map((line) => line.text.trim()).join("\n");
  const height = lines[0]?.height ?? body;
  const isHeading = height > body * 1.15 && lines.length <= 3 && text.length < 200 && /\p{L}/u.test(text);
  if (isHeading) return `${height > body * 1.6 ? "#" : "##"} ${escaped(text.replaceAll("\n", " "))}`;
  return escaped(text).replace(/^([•‣▪])\s*/gm, "- ");
}

/**
 * The lines from here on that are rows of one table: each has several parts, which begin at the columns of the first
 * row.
 */
function tableAt(lines: PdfLine[], start: number): PdfLine[] {
  const head = lines[start] as PdfLine;
  if (head.parts.length < 3) return [];
  const rows = [head];
  for (let at = start + 1; at < lines.length; at++) {
    const line = lines[at] as PdfLine;
    const isRow = line.parts.length >= 2 && line.parts.every((part) => columnOf(part.x, head) >= 0) && line.y < head.y;
    if (!isRow) break;
    rows.push(line);
  }
  return rows.length >= 3 ? rows : [];
}

const columnOf = (x: number, head: PdfLine) => head.parts.findIndex((part) => Math.abs(part.x - x) < head.height * 1.5);

function writeTable(rows: PdfLine[]): string {
  const head = rows[0] as PdfLine;
  return pipeTable(
    rows.map((row) => {
      const cells = head.parts.map(() => "");
      for (const part of row.parts) {
        const column = columnOf(part.x, head);
        cells[column] = `${cells[column] ?? ""} ${escaped(part.text.trim())}`.trim();
      }
      return cells;
    }),
  );
}

/** Escapes signs that would begin a heading, a quote, a list or HTML. */
const escaped = (text: string) => text.replace(/^(\s*)([#>+])(?=\s)/gm, "$1\\$2").replace(/<(?=[A-Za-z/!?])/g, "\\<");
