/** Decides whether a parser kept the file's content. Null: yes. A sentence: the next provider is tried. */
import type { DocumentKind } from "../../contract/documents.ts";
import { readZip } from "../zip.ts";
import { leftOut, pairsOf, wordsOf } from "./left-out.ts";
import { readPart, sheetsOf } from "./package.ts";

/** The minimal share of the file's word pairs that a result must keep in order. */
const leastRecall = 0.97;

export function judge(bytes: Buffer, kind: DocumentKind, markdown: string): string | null {
  if (kind !== "docx" && kind !== "xlsx") return null; // no other parser reads the rest
  const { body, parts } = leftOut(bytes, kind, markdown);
  if (body.length > 0) return "It dropped text.";
  if (parts.includes("Notes")) return "It dropped a note.";
  return kind === "xlsx" ? judgeSheets(bytes, markdown) : null;
}

/**
 * Counts, part by part, how many words of the source a result has, and how many pairs of words that follow each other in
 * a paragraph or in a cell.
 */
export class Recall {
  #wanted = 0;
  #kept = 0;

  /** @param source Markdown of its pages, in the order in which they are read */
  add(source: string[], result: string): void {
    const have = new Map<string, number>();
    for (const one of counted([result])) have.set(one, (have.get(one) ?? 0) + 1);
    for (const one of counted(source.flatMap((page) => page.split(/\n{2,}|\|/)))) {
      const left = have.get(one) ?? 0;
      if (left > 0) {
        this.#kept++;
        have.set(one, left - 1);
      }
      this.#wanted++;
    }
  }

  judge(): string | null {
    const share = this.#wanted === 0 ? 1 : this.#kept / this.#wanted;
    return share < leastRecall ? `It kept ${Math.round(share * 100)}% of the text in its order.` : null;
  }
}

/** Words and pairs of words. */
function counted(texts: string[]): string[] {
  return texts.flatMap((text) => {
    const words = wordsOf(text);
    return [...words, ...pairsOf(words)];
  });
}

/** Whether sentences are cut into paragraphs by the lines that they were set in. */
export function judgeParagraphs(markdown: string): string | null {
  const blocks = markdown.split(/\n{2,}/).filter((block) => /^[\p{L}\p{N}"“(]/u.test(block));
  const cut = blocks.filter((block, at) => /[\p{Ll},]$/u.test(block) && /^\p{Ll}/u.test(blocks[at + 1] ?? "")).length;
  return cut >= 5 && cut > blocks.length / 5 ? "It took lines for paragraphs." : null;
}

/** Whether a heading is a row of a table. @param source Markdown in which rows are told from headings */
export function judgeHeadings(markdown: string, source: string[]): string | null {
  const letters = (line: string) => line.replace(/[^\p{L}\p{N}]/gu, "");
  const rows = new Set(source.flatMap((page) => page.match(/^\|.*\|$/gm) ?? []).map(letters));
  const headings = markdown.match(/^#{1,6} .*$/gm) ?? [];
  return headings.some((line) => rows.has(letters(line))) ? "It took a row of a table for a heading." : null;
}

/** Cells that the first parser does not reach, in the 10,001st row or the 201st column. */
const beyond = /<c\s[^>]*?r="(?:[A-Z]+(?!10000")[1-9]\d{4,}|(?:[A-Z]{3}|G[S-Z]|[H-Z][A-Z])\d+)"/;

/** Formats of durations, such as [h]:mm. */
const durations = /<xf\s[^>]*numFmtId="46"|formatCode="[^"]*\[(h+|m+|s+)\]/i;

function judgeSheets(bytes: Buffer, markdown: string): string | null {
  if (sheetsOf(bytes).some((sheet) => beyond.test(readZip(bytes, sheet).toString("latin1"))))
    return "It cuts large sheets off.";
  if (durations.test(readPart(bytes, "xl/styles.xml"))) return "It shows durations as dates.";
  if (bytes.includes("xl/comments")) return "It drops comments.";
  if (bytes.includes("xl/drawings/")) return "It drops charts and shapes.";
  if (/<sheet\s[^>]*state="[^"]*hidden"/i.test(readPart(bytes, "xl/workbook.xml"))) return "It shows hidden sheets.";
  if (/^\|([^|\n]*\p{L}[^|\n]*)\|(?:\1\|)+$/mu.test(markdown)) return "It repeats a caption in every column.";
  // An empty row inside a table: several tables were merged, one below the other.
  return /^\|[\s|]+\|\n(?=\|[^\n]*[^\s|])/m.test(markdown) ? "It took several tables for one." : null;
}
