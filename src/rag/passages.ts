/**
 * `ctx.rag.search`: the passages that answer a question best, by its words or by words and a vector.
 * Next hop: `sql/rag/find_passages.sql`.
 */
import type { Language, Passage, PassagesInput } from "../contract/rag.ts";
import { isUuid } from "../kit/uuid.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { languageOf } from "../search/languages.ts";
import { partsOf, type ResolvedScope, refusal, resolveScope } from "../search/scope.ts";
import type { FoundEvidence } from "./answer.ts";
import { evidenceColumns } from "./evidence.ts";
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

/** A chunk with its best sentence. */
export type FoundPassage = FoundEvidence & { score: number };

/** @throws SvcError BAD_REQUEST, UNAUTHORIZED for a scope that needs a session, FORBIDDEN for another owner */
export async function searchPassages(
  transaction: RequestTransaction,
  userId: string | null,
  input: PassagesInput,
): Promise<Passage[]> {
  const { query, scope, sourceIds, language, vector, limit = 10 } = partsOf(input);
  const resolved = resolveScope(scope, userId);
  if (typeof query !== "string" || query.trim() === "" || query.length > 2_000) {
    throw refusal("query", "a text of 1 to 2,000 characters");
  }
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1 || most > 20) throw refusal("limit", "a number from 1 to 20");
  const found = await findPassages(transaction, {
    question: query,
    vector: optionalVector("vector", vector),
    language: languageOf(language),
    scope: resolved,
    sourceIds: sourceIdsOf(sourceIds),
    limit: most,
  });
  return found.map(passageOf);
}

const statement = `select ${evidenceColumns}, score
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

const passageOf = ({ sentence, ...found }: FoundPassage): Passage => ({
  sourceId: found.sourceId,
  sourceTitle: found.sourceTitle,
  sectionId: found.sectionId,
  sectionPath: found.sectionPath,
  chunkId: found.chunkId,
  pageStart: found.pageStart,
  snippet: sentence.trim(),
  score: found.score,
  ...(found.similarity !== null && { similarity: found.similarity }),
});
