/** Queries the sentences that cover claims best. Next hop: `sql/rag/find_evidence.sql`. */
import type { Language } from "../contract/rag.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import type { ResolvedScope } from "../search/scope.ts";
import type { FoundEvidence } from "./answer.ts";

export interface EvidenceInput {
  claims: string[];
  /** Vectors of the claims, in order. (Default: none) */
  vectors?: (number[] | undefined)[];
  language: Language;
  scope: ResolvedScope;
  /** Null: all documents of the scope. */
  sourceIds: string[] | null;
  /** Chunks to read for each claim. */
  chunks: number;
  /** Sentences to return for each claim. */
  sentences: number;
}

const statement = `select claim, source_id as "sourceId", source_title as "sourceTitle", section_id as "sectionId",
  section_path as "sectionPath", chunk_id as "chunkId", chunk_text as "chunkText", page_start as "pageStart", sentence,
  coverage, chunk_coverage as "chunkCoverage", matched, missing, similarity
  from svc.find_evidence($1, $2::text::regconfig, $3, $4, $5, $6, $7, $8, $9)`;

/** @returns for each claim, by its position from 1, its sentences, best first */
export async function findEvidence(
  transaction: RequestTransaction,
  { claims, vectors, language, scope, sourceIds, chunks, sentences }: EvidenceInput,
): Promise<(FoundEvidence & { claim: number })[]> {
  const { corpus, visibility, owner } = scope;
  const asked = vectors?.some(Boolean) ? JSON.stringify(vectors.map((vector) => vector ?? null)) : null;
  const values = [claims, language, corpus, visibility, owner, sourceIds, chunks, sentences, asked];
  const { rows } = await transaction.query({ name: "svc_find_evidence", text: statement }, values);
  return rows;
}
