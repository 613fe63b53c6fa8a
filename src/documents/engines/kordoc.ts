/**
 * kordoc: the first parser for Korean word processors, DOCX and XLSX. Its result is compared with the file's own content,
 * since it silently drops some things: notes of DOCX, comments of sheets.
 * Next hop: `quality.ts`; `kordoc-pdf.ts` reads PDF with it.
 */
import { parse } from "kordoc";
import type { DocumentKind } from "../../contract/documents.ts";
import { encrypted } from "../../text/refusals.ts";
import type { Converted } from "../types.ts";
import { flattenTables } from "./html-tables.ts";
import { judge } from "./quality.ts";

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

export async function convertWithKordoc(bytes: Buffer, kind: DocumentKind): Promise<Converted> {
  const { markdown, pages, codes } = await readRange(bytes);
  return { markdown, pages, warnings: told(codes), poor: judge(bytes, kind, markdown) };
}

export interface Part {
  markdown: string;
  pages: string[];
  codes: Set<string>;
}

/** @param pages such as "1-100" (Default: all of them) @throws SvcError DOCUMENT_ENCRYPTED */
export async function readRange(bytes: Buffer, pages?: string): Promise<Part> {
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

export const told = (codes: Set<string>) => [...codes].flatMap((code) => sentences[code] ?? []);

/** Removes references to images, which are not part of the result. */
const withoutImages = (markdown: string) => markdown.replace(/!\[image\]\(image_\d+\.\w+\)\n*/g, "");
