/**
 * The first parser, kordoc: Korean word processors, PDF, DOCX, XLSX. Its result is held against what the file itself
 * says, since it drops some things silently: notes of DOCX, lines of PDF inside what it takes for tables, comments of
 * sheets.
 * Next hop: `../quality.ts`.
 */
import { parse } from "kordoc";
import { flattenTables } from "../html-tables.ts";
import { judge } from "../quality.ts";
import { encrypted } from "../refusals.ts";
import type { DocumentKind } from "../types.ts";
import type { Converted } from "./run.ts";

/** Its warnings are in Korean; these are the codes that tell a reader something. */
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
  const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const result = await parse(copy);
  if (!result.success) {
    if (result.code === "ENCRYPTED" || result.code === "DRM_PROTECTED") throw encrypted();
    throw new Error(result.error);
  }
  const markdown = withoutImages(flattenTables(result.markdown));
  const codes = new Set((result.warnings ?? []).map((warning) => warning.code as string));
  return {
    markdown,
    pages: (result.pages ?? []).map((page) => withoutImages(flattenTables(page.markdown))),
    warnings: [...codes].flatMap((code) => sentences[code] ?? []),
    poor: codes.has("NEEDS_OCR") ? "Its text is not readable." : await judge(bytes, kind, markdown),
  };
}

/** References to pictures that are not part of the result. */
const withoutImages = (markdown: string) => markdown.replace(/!\[image\]\(image_\d+\.\w+\)\n*/g, "");
