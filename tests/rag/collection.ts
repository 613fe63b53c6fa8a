/** Judges many claims by a collection of documents, without HTTP: for tests that measure. */
import type { GroundedClaim } from "../../src/contract/grounding.ts";
import { identityOfUser } from "../../src/postgres/identity.ts";
import { createPool } from "../../src/postgres/pools.ts";
import { RequestTransaction } from "../../src/postgres/transaction.ts";
import { contextRag } from "../../src/rag/context.ts";
import { contextGrounding } from "../../src/rag/grounding.ts";
import { createLog } from "../../src/telemetry/log.ts";
import type { Database } from "../support/database.ts";

/** @param claims each with the title of the document that is asked, or none for all of them */
export async function groundInCollection(
  db: Database,
  documents: Map<string, { text: string } | { markdown: string }>,
  claims: { claim: string; title?: string }[],
): Promise<GroundedClaim[]> {
  await db.sql(`insert into auth."user" (id, name, email) values ('reader', 'Reader', 'reader@example.com')`);
  const limits = { statementTimeoutMs: 60_000, idleInTransactionMs: 60_000 };
  const settings = { request: 1, system: 1, auth: 1, waitMs: 5_000, ...limits };
  const log = createLog("silent");
  const { pool, close } = createPool("request", db.url("request"), settings, log);
  const identity = identityOfUser("reader");
  const scope = { corpus: "collection", visibility: "private" } as const;

  const writing = new RequestTransaction(pool, identity, "write", limits);
  const sources = new Map<string, string>();
  for (const [title, document] of documents) {
    const { sourceId } = await contextRag(writing, "reader").ingest({ title, ...document, scope });
    sources.set(title, sourceId);
  }
  await writing.commit();
  await db.sql("analyze svc.rag_chunks");

  const reading = new RequestTransaction(pool, identity, "read", limits);
  const grounding = contextGrounding(reading, "reader", () => reading, { log });
  const judged: GroundedClaim[] = [];
  for (const { claim, title } of claims) {
    const sourceIds = title === undefined ? {} : { sourceIds: [sources.get(title) as string] };
    const asked = { question: claim, claims: [{ claimText: claim }], mode: "qa" as const, scope, ...sourceIds };
    judged.push(...(await grounding.answer(asked)).claims);
  }
  await reading.commit();
  await close();
  return judged;
}
