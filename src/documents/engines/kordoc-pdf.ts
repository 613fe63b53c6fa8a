/**
 * The second parser for PDF: kordoc, which knows tables by their rules. It drops or mixes lines of some files, so its
 * result is compared with what the first parser reads.
 * Next hop: `quality.ts`.
 */
import type { Converted } from "../types.ts";
import { type Part, readRange, told } from "./kordoc.ts";
import { writePages } from "./pdf.ts";
import { readPages } from "./pdf-text.ts";
import { openPdf } from "./pdfium.ts";
import { judgeHeadings, judgeParagraphs, Recall } from "./quality.ts";

/** Pages per part of a long PDF. Each part is released before the next one, so memory does not grow with the document. */
const partOfPages = 100;
/** Pages per part of a long PDF that are compared with the file. A share decides, so a sample is enough. */
const judgedOfPart = 10;

export async function convertPdfWithKordoc(bytes: Buffer): Promise<Converted> {
  const source = await openPdf(bytes);
  const total = source.pages;
  const isLong = total > partOfPages;
  const parts: Part[] = [];
  const recall = new Recall();
  const ours: string[] = [];
  for (let first = 1; first <= total; first += partOfPages) {
    const last = Math.min(first + partOfPages - 1, total);
    const part = await readRange(bytes, isLong ? `${first}-${last}` : undefined);
    parts.push(part);
    const judged = isLong ? Math.min(first + judgedOfPart - 1, last) : last;
    const { written } = writePages(readPages(source, first, judged));
    // The next page may contain the rest of a table.
    recall.add(written, isLong ? part.pages.slice(0, judgedOfPart + 1).join("\n\n") : part.markdown);
    ours.push(...written);
  }
  const codes = new Set(parts.flatMap((part) => [...part.codes]));
  const markdown = parts
    .map((part) => part.markdown)
    .filter(Boolean)
    .join("\n\n");
  return {
    markdown,
    pages: parts.flatMap((part) => part.pages),
    warnings: told(codes),
    poor: codes.has("NEEDS_OCR")
      ? "Its text is not readable."
      : (recall.judge() ?? judgeParagraphs(markdown) ?? judgeHeadings(markdown, ours)),
  };
}
