/**
 * The first parser, kordoc: Korean word processors, PDF, DOCX, XLSX. Its result is compared with the file's own
 * content, since it silently drops some things: notes of DOCX, lines of PDF in what it takes for tables, comments of
 * sheets.
 * Next hop: `quality.ts`.
 */
import { parse } from "kordoc";
import type { DocumentKind } from "../../contract/documents.ts";
import { encrypted } from "../../text/refusals.ts";
import type { Converted } from "./converted.ts";
import { flattenTables } from "./html-tables.ts";
import { openPdf, readPages } from "./pdf-text.ts";
import { judge, judgeParagraphs, Recall } from "./quality.ts";

/** Its warnings are in Korean. These codes are useful for a reader. */
const sentences: Record<string, string> = {
  SKIPPED_IMAGE: "Images were left out.",
  SKIPPED_OLE: "Embedded objects were left out.",
  TRUNCATED_TABLE: "A table was cut off.",
  UNSUPPORTED_ELEMENT: "Some elements were left out.",
  BROKEN_ZIP_RECOVERY: "The package is damaged; what could be read was kept.",
  HIDDEN_TEXT_FILTERED: "Hidden text was left out.",
  MALFORMED_XML: "Some XML is malformed; what could be read was kept.",
  PARTIAL_PARSE: "Some parts could not be read.",
  LENIENT_CFB_RECOVERY: "The file is damaged; what could be read was kept.",
};

export async function convertWithParserA(bytes: Buffer, kind: DocumentKind): Promise<Converted> {
  if (kind === "pdf") return convertPdfInParts(bytes);
  const { markdown, pages, codes } = await readRange(bytes);
  return { markdown, pages, warnings: told(codes), poor: judge(bytes, kind, markdown) };
}

/**
 * Pages per part of a long PDF. Each part is released before the next one, so memory does not grow with the document.
 */
const partOfPages = 100;
/** Pages per part of a long PDF that are compared with the file. A share decides, so a sample is enough. */
const judgedOfPart = 10;

async function convertPdfInParts(bytes: Buffer): Promise<Converted> {
  const source = await openPdf(bytes);
  const total = source.numPages;
  const isLong = total > partOfPages;
  const parts: Part[] = [];
  const recall = new Recall();
  try {
    for (let first = 1; first <= total; first += partOfPages) {
      const last = Math.min(first + partOfPages - 1, total);
      const part = await readRange(bytes, isLong ? `${first}-${last}` : undefined);
      parts.push(part);
      const judged = isLong ? Math.min(first + judgedOfPart - 1, last) : last;
      const lines = await readPages(source, first, judged);
      // The next page may contain the rest of a table.
      const read = isLong ? part.pages.slice(0, judgedOfPart + 1).join("\n\n") : part.markdown;
      recall.add(
        lines.flat().map((line) => line.text),
        read,
      );
      source.cleanup();
    }
  } finally {
    await source.loadingTask.destroy();
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
    poor: codes.has("NEEDS_OCR") ? "Its text is not readable." : (recall.judge() ?? judgeParagraphs(markdown)),
  };
}

interface Part {
  markdown: string;
  pages: string[];
  codes: Set<string>;
}

/** @param pages such as "1-100" (Default: all of them) @throws SvcError DOCUMENT_ENCRYPTED */
async function readRange(bytes: Buffer, pages?: string): Promise<Part> {
  const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  // What it takes for running headers may be chapter headings, so they are kept.
  const result = await parse(copy, { removeHeaderFooter: false, ...(pages && { pages }) });
  if (!result.success) {
    if (result.code === "ENCRYPTED" || result.code === "DRM_PROTECTED") throw encrypted();
    throw new Error(result.error);
  }
  return {
    markdown: withoutImages(flattenTables(result.markdown)),
    pages: (result.pages ?? []).map((page) => withoutImages(flattenTables(page.markdown))),
    codes: new Set((result.warnings ?? []).map((warning) => warning.code as string)),
  };
}

const told = (codes: Set<string>) => [...codes].flatMap((code) => sentences[code] ?? []);

/** Removes references to images, which are not part of the result. */
const withoutImages = (markdown: string) => markdown.replace(/!\[image\]\(image_\d+\.\w+\)\n*/g, "");
