/**
 * Writes a document with its sections, then its chunks, in the call's transaction: all or nothing.
 * Next hop: `sql/rag/ingest_source.sql`, `sql/rag/add_chunks.sql`.
 */
import type { IngestResult } from "../contract/rag.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import type { Section } from "../text/cut-document.ts";

/** Chunks per statement: a large document in one statement would exceed the timeout. */
const batch = 250;

/** @param document the columns of svc.rag_sources */
export async function storeDocument(
  transaction: RequestTransaction,
  document: object,
  sections: Section[],
): Promise<IngestResult> {
  const headings = sections.map(({ level, title, path }) => ({ level, title, path }));
  const { rows } = await transaction.query(
    { name: "svc_ingest_source", text: "select svc.ingest_source($1) as result" },
    [JSON.stringify({ ...document, sections: headings })],
  );
  const result: IngestResult = rows[0].result;
  if (result.status === "unchanged") return result;
  const chunks = sections
    .flatMap((section, at) => section.chunks.map((chunk) => ({ ...chunk, section: at + 1 })))
    .map((chunk, at) => ({ ...chunk, position: at + 1 }));
  for (let at = 0; at < chunks.length; at += batch) {
    await transaction.query({ name: "svc_add_chunks", text: "select svc.add_chunks($1, $2)" }, [
      result.sourceId,
      JSON.stringify(chunks.slice(at, at + batch)),
    ]);
  }
  return { ...result, chunks: chunks.length };
}
