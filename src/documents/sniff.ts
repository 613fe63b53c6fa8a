/**
 * Detects a file's type by its content, and by its name when the content is ambiguous (text formats).
 * Next hop: `routing.ts` knows who reads it.
 */
import type { ConvertOptions, DocumentKind } from "../contract/documents.ts";
import { encrypted, unreadable, unsupported } from "../text/refusals.ts";
import { listZip } from "./zip.ts";

const byExtension: Record<string, DocumentKind> = {
  csv: "csv",
  tsv: "csv",
  htm: "html",
  html: "html",
  xhtml: "html",
  md: "md",
  markdown: "md",
};
const byMimeType: Record<string, DocumentKind> = {
  "text/csv": "csv",
  "text/tab-separated-values": "csv",
  "text/html": "html",
  "application/xhtml+xml": "html",
  "text/markdown": "md",
};
/**
 * A comment must not contain the end of a comment: otherwise the number of ways to split a row of comments would make
 * the search endless.
 */
const looksLikeHtml = /^(<\?xml[^>]*>\s*)?(<!--((?!-->)[\s\S])*-->\s*)*<(!doctype html|html|head|body)[\s>]/i;
// In hexadecimal. Texts begin with "PK" and "BM", too, such as a table with the heading "PK;Name".
const zip = /^504b(0304|0506|0708)/;
const images = /^(89504e47|ffd8ff|47494638|424d.{8}00000000|49492a00|4d4d002a)/;
const legacy = {
  WordDocument: ["A legacy Word document (.doc)", "Save it as .docx."],
  Workbook: ["A legacy Excel workbook (.xls)", "Save it as .xlsx."],
  "PowerPoint Document": ["A legacy presentation (.ppt)", "Export it as PDF."],
} as const;

/** By a part that only they have. */
const otherPackages = {
  "ppt/presentation.xml": ["A presentation (.pptx)", "Export it as PDF."],
  "xl/workbook.bin": ["A binary workbook (.xlsb)", "Save it as .xlsx."],
  "content.xml": ["An OpenDocument file (.odt, .ods or .odp)", "Save it as .docx, .xlsx or PDF."],
} as const;

/** @throws SvcError UNSUPPORTED_MEDIA_TYPE, DOCUMENT_ENCRYPTED, DOCUMENT_UNREADABLE */
export function sniff(bytes: Buffer, { filename = "", mimeType = "" }: ConvertOptions): DocumentKind {
  if (bytes.length === 0) throw unreadable("The file is empty.");
  const head = bytes.subarray(0, 1024).toString("latin1");
  const hex = bytes.subarray(0, 12).toString("hex");
  // Other bytes may precede a PDF's sign, and a text may quote it.
  if (head.startsWith("%PDF-") || (head.includes("%PDF-") && bytes.includes("endobj"))) return "pdf";
  if (head.startsWith("HWP Document File")) return "hwp";
  if (zip.test(hex)) return packageKind(bytes);
  if (head.startsWith("\u00d0\u00cf\u0011\u00e0")) return compoundKind(bytes);
  if (images.test(hex) || /^(RIFF....WEBP|....ftyp(hei|hev|mif1|msf1|avi))/s.test(head)) {
    throw unsupported("An image", "Use ai.vision.extractText, or an image part in ai.chat.");
  }
  // Its text is between commands, which would be text of a plain file.
  if (head.startsWith("{\\rtf")) throw unsupported("Rich text (.rtf)", "Save it as .docx.");
  return textKind(head, filename, mimeType);
}

function packageKind(bytes: Buffer): DocumentKind {
  const entries = listZip(bytes);
  const names = new Set(entries.map((entry) => entry.name));
  if (entries.some((entry) => entry.isEncrypted)) throw encrypted();
  if (names.has("word/document.xml")) return "docx";
  if (names.has("xl/workbook.xml")) return "xlsx";
  if ([...names].some((name) => /^Contents\/section\d+\.xml$/i.test(name))) return "hwpx";
  for (const [part, [what, instead]] of Object.entries(otherPackages))
    if (names.has(part)) throw unsupported(what, instead);
  if ([...names].some((name) => /(^|\/)document\d*\.xml$/.test(name))) return "docx";
  throw unsupported("This kind of zip", "Convert the documents in it one by one.");
}

/** Compound files are directories of streams with names in UTF-16. */
function compoundKind(bytes: Buffer): DocumentKind {
  const has = (name: string) => bytes.includes(Buffer.from(name, "utf16le"));
  if (has("EncryptedPackage")) throw encrypted();
  if (has("FileHeader") || has("HwpSummaryInformation")) return "hwp";
  for (const [stream, [what, instead]] of Object.entries(legacy)) if (has(stream)) throw unsupported(what, instead);
  throw unsupported("This kind of compound file", "Save it as .docx, .xlsx or PDF.");
}

function textKind(head: string, filename: string, mimeType: string): DocumentKind {
  const plain = head
    .replaceAll("\0", "")
    .replace(/^(\u00ef\u00bb\u00bf|\u00ff\u00fe|\u00fe\u00ff)/, "")
    .trimStart();
  if (/<HWPML[\s>]/i.test(plain)) return "hwpml";
  const named = byMimeType[mimeType.split(";")[0]?.trim().toLowerCase() ?? ""];
  const kind = byExtension[/\.([^.]+)$/.exec(filename.toLowerCase())?.[1] ?? ""] ?? named;
  if (kind) return kind;
  return looksLikeHtml.test(plain) ? "html" : "txt";
}
