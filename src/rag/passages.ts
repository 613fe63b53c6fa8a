/**
 * `ctx.rag.search`: the passages that share most with a question, by the weights that claims are judged with.
 * Next hop: `sql/rag/find_evidence.sql`.
 */
import type { Passage, PassagesInput } from "../contract/rag.ts";
import { isUuid } from "../kit/uuid.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { languageOf } from "../search/languages.ts";
import { partsOf, refusal, resolveScope } from "../search/scope.ts";
import type { FoundEvidence } from "./answer.ts";
import { findEvidence } from "./evidence.ts";

/** @throws SvcError BAD_REQUEST, UNAUTHORIZED for a scope that needs a session, FORBIDDEN for another owner */
export async function findPassages(
  transaction: RequestTransaction,
  userId: string | null,
  input: PassagesInput,
): Promise<Passage[]> {
  const { query, scope, sourceIds, language, limit = 10 } = partsOf(input);
  const resolved = resolveScope(scope, userId);
  if (typeof query !== "string" || query.trim() === "" || query.length > 2_000) {
    throw refusal("query", "a text of 1 to 2,000 characters");
  }
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1 || most > 20) throw refusal("limit", "a number from 1 to 20");
  const found = await findEvidence(transaction, {
    claims: [query],
    language: languageOf(language),
    scope: resolved,
    sourceIds: sourceIdsOf(sourceIds),
    ...amountOf(most),
  });
  return bestOfChunks(found).map(passageOf);
}

/** The best sentence of each chunk, best chunk first. */
export function bestOfChunks(found: FoundEvidence[]): FoundEvidence[] {
  const chunks = Map.groupBy(found, ({ chunkId }) => chunkId);
  return [...chunks.values()].map(([best]) => best as FoundEvidence).sort((a, b) => scoreOf(b) - scoreOf(a));
}

/** The number of chunks, and enough sentences to find the best one of each. */
export const amountOf = (chunks: number) => ({ chunks, sentences: chunks * 8 });

/** @throws SvcError BAD_REQUEST */
export function sourceIdsOf(sourceIds: unknown): string[] | null {
  if (sourceIds === undefined) return null;
  const isIds = Array.isArray(sourceIds) && sourceIds.length <= 100 && sourceIds.every(isUuid);
  if (!isIds) throw refusal("sourceIds", "at most 100 ids of sources");
  return sourceIds;
}

const scoreOf = ({ coverage, chunkCoverage }: FoundEvidence) =>
  Math.round((0.7 * coverage + 0.3 * chunkCoverage) * 1_000) / 1_000;

const passageOf = (found: FoundEvidence): Passage => ({
  sourceId: found.sourceId,
  sourceTitle: found.sourceTitle,
  sectionId: found.sectionId,
  sectionPath: found.sectionPath,
  chunkId: found.chunkId,
  pageStart: found.pageStart,
  snippet: found.sentence.trim(),
  score: scoreOf(found),
});
