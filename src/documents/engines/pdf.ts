/**
 * The first parser for PDF: everything that the text layer has, in the order in which it is read, with headings by the
 * size of letters and tables by columns.
 * Next hop: `pdf-text.ts` reads the pages, `pdf-order.ts` orders their rows.
 */
import type { Converted } from "../types.ts";
import { inReadingOrder } from "./pdf-order.ts";
import { bullets, type Row, rowsOf, type Segment } from "./pdf-rows.ts";
import { tableAt, writeTable } from "./pdf-tables.ts";
import { type PageText, readPages } from "./pdf-text.ts";
import { openPdf } from "./pdfium.ts";

export async function convertPdf(bytes: Buffer): Promise<Converted> {
  const pdf = await openPdf(bytes);
  const { written, loose } = writePages(readPages(pdf, 1, pdf.pages));
  const empty = written.filter((page) => page === "").length;
  const warnings = empty > 0 ? [`${empty} of ${written.length} pages have no text of their own.`] : [];
  const isScanned = written.length > 0 && empty === written.length;
  return {
    markdown: written.filter(Boolean).join("\n\n"),
    pages: written,
    warnings,
    poor: isScanned ? "The pages are pictures." : null,
    doubt: loose > 0 ? "Some rows with several parts are in no table." : null,
  };
}

/** @returns Markdown of each page, and how many groups of rows look like a table that was not found */
export function writePages(read: PageText[]): { written: string[]; loose: number } {
  const pages = read.map(({ runs, turned }) => ({ blocks: inReadingOrder(rowsOf(runs)), turned }));
  const style = { ...styleOf(pages.flatMap(({ blocks }) => blocks.flat())), running: runningOf(pages) };
  const written = pages.map((page) => writePage(page, style));
  return { written: written.map(({ text }) => text), loose: written.reduce((sum, page) => sum + page.loose, 0) };
}

interface Page {
  blocks: Row[][];
  turned: string[];
}

/** What most of the text looks like. */
interface Style extends Usual {
  /** Lines at the top or the bottom of several pages. */
  running: Set<string>;
}

interface Usual {
  height: number;
  font: string;
  /** Other fonts, of which most rows stand alone; those of code do not. */
  titles: Set<string>;
  /** The distance of lines. */
  leading: number;
  /** Words of the text, and words with a hyphen in them; without those that the end of a line cuts. */
  words: Set<string>;
}

function styleOf(rows: Row[]): Usual {
  const [heights, fonts, leadings] = [new Map<number, number>(), new Map<string, number>(), new Map<number, number>()];
  const words = new Set<string>();
  const alone = new Map<string, number>();
  const count = <K>(counts: Map<K, number>, key: K, by: number) => counts.set(key, (counts.get(key) ?? 0) + by);
  rows.forEach((row, at) => {
    for (const { height, font, text } of row) {
      count(heights, Math.round(height * 2) / 2, text.length);
      count(fonts, font, text.length);
      const isRest = /[-\u00ad\u2010]$/.test(rows[at - 1]?.at(-1)?.text ?? "");
      const whole = text.replace(isRest ? /^\p{L}+|\p{L}+[-\u00ad\u2010]$/gu : /\p{L}+[-\u00ad\u2010]$/u, "");
      for (const [word] of whole.toLowerCase().matchAll(/\p{L}+(?:-\p{L}+)*/gu)) words.add(word);
    }
    const [one, other] = [row[0] as Segment, rows[at - 1]?.[0]];
    count(alone, one.font, other?.font === one.font ? -1 : 1);
    if (other && Math.abs(one.height - other.height) < 0.5 && one.y > other.y)
      count(leadings, Math.round(((one.y - other.y) / one.height) * 20) / 20, row.length === 1 ? one.text.length : 1);
  });
  const most = <K>(counts: Map<K, number>) => [...counts].sort((one, other) => other[1] - one[1])[0]?.[0];
  const leading = Math.min(Math.max(most(leadings) ?? 1.2, 1), 2.5);
  const font = most(fonts) ?? "";
  const titles = new Set([...alone].flatMap(([name, rest]) => (name !== font && rest > 0 ? [name] : [])));
  return { height: most(heights) ?? 10, font, titles, leading, words };
}

/** On so many pages a line is no heading. */
const running = 3;

function runningOf(pages: Page[]): Set<string> {
  const counts = new Map<string, number>();
  for (const { blocks } of pages) {
    const ends = [blocks[0]?.[0], blocks.at(-1)?.at(-1)].flatMap((row) => (row ? [looksOf(row)] : []));
    for (const text of new Set(ends)) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return new Set([...counts].flatMap(([text, count]) => (count >= running ? [text] : [])));
}

function writePage({ blocks, turned }: Page, style: Style): { text: string; loose: number } {
  const paragraphs: string[] = [];
  let loose = 0;
  let open: Row[] = [];
  const flush = () => {
    if (open.length > 0) paragraphs.push(writeParagraph(open, style));
    if (open.filter(isTabular).length >= 3) loose++;
    open = [];
  };
  for (const block of blocks) {
    for (let at = 0; at < block.length; at++) {
      const table = tableAt(block, at);
      if (table) {
        flush();
        paragraphs.push(writeTable(table.cells, escaped));
        at += table.length - 1;
        continue;
      }
      const row = block[at] as Row;
      const last = open.at(-1);
      const isTitle = titleAt(block, at, style);
      if (isTitle || (last && !(at === 0 ? continues(last, row) : belongs(last, row, style)))) flush();
      open.push(row);
      if (isTitle) paragraphs.push(`## ${escaped(textOf(open.pop() as Row))}`);
    }
  }
  flush();
  return { text: [...paragraphs, ...turned.map(escaped)].join("\n\n"), loose };
}

/** Whether a row has three parts or more with gaps that justified lines do not have. */
const isTabular = (row: Row) =>
  row.slice(1).filter(({ x, height }, at) => x - (row[at] as Segment).right > 1.5 * height).length > 1;

/** A row with the size of its letters: the title of a document may stand above its pages in small. */
const looksOf = (row: Row) => `${Math.round(headOf(row).height)} ${textOf(row)}`;
const textOf = (row: Row) => row.map(({ text }) => text).join(" ");
const headOf = (row: Row) => row[0] as Segment;

/** Whether a sentence continues at the top of the next column. */
function continues(last: Row, row: Row): boolean {
  const isAlike = Math.abs(headOf(last).height - headOf(row).height) < 0.5;
  return isAlike && /[\p{Ll},\u00ad-]$/u.test(textOf(last)) && /^\p{Ll}/u.test(textOf(row));
}

const startOfItem = new RegExp(String.raw`^\s*([${bullets}–-]|\d+[.)])\s`);
const signOfItem = new RegExp(String.raw`^[${bullets}]\s*`, "gm");

/** Whether a row continues the paragraph of the last one. */
function belongs(last: Row, row: Row, style: Style): boolean {
  const [one, other] = [headOf(last), headOf(row)];
  const height = Math.max(one.height, other.height);
  const drop = other.y - one.y;
  if (drop < 0 || drop > Math.max(1.25 * style.leading, 1.5) * height) return false;
  if (Math.abs(one.height - other.height) > 0.1 * one.height) return false;
  if (startOfItem.test(other.text)) return false;
  const isIndented = other.x > one.x + 0.8 * height && other.x < one.x + 4 * height && /[.:!?”"]$/.test(textOf(last));
  return !isIndented;
}

/** A row in another font than the text that begins right below it. */
function titleAt(block: Row[], at: number, style: Style): boolean {
  const [row, next] = [block[at] as Row, block[at + 1]];
  const { font, height, y } = headOf(row);
  const text = textOf(row);
  const isBelow = next && headOf(next).y - y < 2.5 * Math.max(height, style.height);
  if (!isBelow || !style.titles.has(font) || height < 0.95 * style.height || text.length > 100) return false;
  const isNumbered = /^(\d+(\.\d+)*\.?|[A-Z]\.)\s+\p{Lu}/u.test(text) && row.length <= 2;
  const isShort = row.length === 1 && /^\p{Lu}|^\p{Lo}/u.test(text) && text.length < 80;
  const isAbove = headOf(next).font === style.font && textOf(next).length >= 40;
  const isSentence = /[.,;:!?]$|:\s*[^\p{L}]+$/u.test(text);
  return (isNumbered || (isShort && isAbove)) && !isSentence && mayBeHeading(row, style);
}

/** Neither a line of every page, nor one of a table of contents, nor a figure. */
const mayBeHeading = (row: Row, { running }: Style) =>
  !running.has(looksOf(row)) && !/(?:\. ?){4,}/.test(textOf(row)) && /\p{L}{2}/u.test(textOf(row));

function writeParagraph(rows: Row[], style: Style): string {
  const text = rows.map(textOf).reduce((before, line) => joinLines(before, line, style.words));
  const [first] = rows as [Row];
  const { height } = headOf(first);
  const isLarge = height > style.height * 1.15 && rows.length <= 3 && rows.every((row) => row.length === 1);
  if (isLarge && text.length < 200 && mayBeHeading(first, style)) {
    return `${height > style.height * 1.6 ? "#" : "##"} ${escaped(text.replaceAll("\n", " "))}`;
  }
  return escaped(text).replace(signOfItem, "- ");
}

/** A word that was cut at the end of a line is put together; a hyphen between words of the text stays. */
function joinLines(before: string, line: string, words: Set<string>): string {
  const sign = before.at(-1) ?? "";
  if (!["-", "\u00ad", "\u2010"].includes(sign)) return `${before}\n${line}`;
  const [start = ""] = /\p{L}+$/u.exec(before.slice(before.lastIndexOf("\n") + 1, -1)) ?? [];
  const [rest = ""] = /^\p{Ll}+/u.exec(line) ?? [];
  if (start === "" || rest === "") return `${before}\n${line}`;
  const isCompound = sign === "-" && isWord(`${start}-${rest}`, words);
  const isCut = isWord(start + rest, words) || !(isWord(start, words) && isWord(rest, words));
  return `${isCut && !isCompound ? before.slice(0, -1) : before}${line}`;
}

const isWord = (text: string, words: Set<string>) => words.has(text.toLowerCase());

/** Escapes signs that would begin a heading, a quote, a list or HTML. */
const escaped = (text: string) => text.replace(/^(\s*)([#>+])(?=\s)/gm, "$1\\$2").replace(/<(?=[A-Za-z/!?])/g, "\\<");
