/**
 * Checks an Office package before a parser sees it: every part unpacks to its declared size, and no XML declares a
 * document type, which entity bombs and external entities need. Office never writes one.
 * Next hop: `../zip.ts`.
 */
import { encrypted, unreadable } from "../../text/refusals.ts";
import { listZip, readZip } from "../zip.ts";

const declarations = ["<!DOCTYPE", "<!ENTITY"].flatMap((text) => [Buffer.from(text), Buffer.from(text, "utf16le")]);

/** @throws SvcError DOCUMENT_UNREADABLE, DOCUMENT_ENCRYPTED */
export function scanPackage(bytes: Buffer): void {
  for (const entry of listZip(bytes)) {
    const content = readZip(bytes, entry);
    if (entry.name === "META-INF/manifest.xml" && content.includes("encryption-data")) throw encrypted();
    if (!/\.(xml|rels|hpf|vml)$/i.test(entry.name)) continue;
    if (declarations.some((declaration) => content.includes(declaration))) {
      throw unreadable("A part of the package declares a document type.");
    }
  }
}

const mostMerges = 20_000;

/** Each merged range is looked up and written out. @throws SvcError DOCUMENT_UNREADABLE */
export function refuseManyMerges(bytes: Buffer): void {
  const merges = sheetsOf(bytes).flatMap(
    (sheet) =>
      readZip(bytes, sheet)
        .toString("latin1")
        .match(/<mergeCell\b/g) ?? [],
  );
  if (merges.length <= mostMerges) return;
  throw unreadable(
    `The workbook merges cells ${merges.length} times; at most ${mostMerges} are read. Unmerge cells, or split it.`,
  );
}

export const sheetsOf = (bytes: Buffer) =>
  listZip(bytes).filter(({ name }) => /^xl\/worksheets\/[^/]+\.xml$/.test(name));

/** One part as text; "" when the package has none of this name. */
export function readPart(bytes: Buffer, name: string): string {
  const entry = listZip(bytes).find((one) => one.name === name);
  return entry
    ? readZip(bytes, entry)
        .toString("utf8")
        .replace(/^\ufeff/, "")
    : "";
}
