/**
 * `ctx.rag.search`: the passages that answer a question best, by its words or by words and a vector.
 * Next hop: `sql/rag/find_passages.sql`.
 */
import type { Language, Passage, PassagesInput } from "../contract/rag.ts";
import { isUuid } from "../kit/uuid.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { languageOf } from "../search/languages.ts";
import { partsOf, type ResolvedScope, refusal, resolveScope } from "../search/scope.ts";
import { composed } from "../text/composed.ts";
import { optionalVector, requireLength } from "./vectors.ts";

export interface PassagesQuestion {
  question: string;
  /** Of length 1. */
  vector: number[] | undefined;
  language: Language;
  scope: ResolvedScope;
  /** Null: all documents of the scope. */
  sourceIds: string[] | null;
  limit: number;
}

/** A row of svc.find_passages(): a chunk with its best sentence. */
export interface FoundPassage extends Omit<Passage, "snippet" | "similarity"> {
  chunkText: string;
  sentence: string;
  similarity: number | null;
}

const members = ["query", "scope", "sourceIds", "language", "vector", "limit"] as const;

/** @throws SvcError BAD_REQUEST, UNAUTHORIZED for a scope that needs a session, FORBIDDEN for another owner */
export async function searchPassages(
  transaction: RequestTransaction,
  userId: string | null,
  input: PassagesInput,
): Promise<Passage[]> {
  const { query, scope, sourceIds, language, vector, limit = 10 } = partsOf(input, members);
  const resolved = resolveScope(scope, userId);
  if (typeof query !== "string" || query.trim() === "" || query.length > 2_000) {
    throw refusal("query", "a text of 1 to 2,000 characters");
  }
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1 || most > 20) throw refusal("limit", "a number from 1 to 20");
  const found = await findPassages(transaction, {
    question: composed(query),
    vector: optionalVector("vector", vector),
    language: languageOf(language),
    scope: resolved,
    sourceIds: sourceIdsOf(sourceIds),
    limit: most,
  });
  return found.map(passageOf);
}

const statement = `select source_id as "sourceId", source_title as "sourceTitle", section_id as "sectionId",
  section_path as "sectionPath", chunk_id as "chunkId", chunk_text as "chunkText", page_start as "pageStart", sentence,
  similarity, score
  from svc.find_passages($1, $2::text::regconfig, $3, $4, $5, $6, $7, $8)`;

/** @returns the passages, best first @throws SvcError BAD_REQUEST for a vector of another length than the documents' */
export async function findPassages(
  transaction: RequestTransaction,
  { question, vector, language, scope, sourceIds, limit }: PassagesQuestion,
): Promise<FoundPassage[]> {
  await requireLength(transaction, scope, { vector });
  const { corpus, visibility, owner } = scope;
  const values = [question, language, corpus, visibility, owner, sourceIds, limit, vector ?? null];
  const { rows } = await transaction.query({ name: "svc_find_passages", text: statement }, values);
  return rows;
}

/** @throws SvcError BAD_REQUEST */
export function sourceIdsOf(sourceIds: unknown): string[] | null {
  if (sourceIds === undefined) return null;
  const isIds = Array.isArray(sourceIds) && sourceIds.length <= 100 && sourceIds.every(isUuid);
  if (!isIds) throw refusal("sourceIds", "at most 100 ids of sources");
  return sourceIds;
}

const passageOf = ({ chunkText, sentence, similarity, ...found }: FoundPassage): Passage => ({
  ...found,
  snippet: sentence.trim(),
  ...(similarity !== null && { similarity }),
});
