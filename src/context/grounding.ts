/**
 * `ctx.grounding`: whether claims stand in the documents of a scope, and where. No language model is asked.
 * Next hop: `sql/rag/find_evidence.sql` finds sentences, `src/rag/answer.ts` judges them.
 */
import type { RequestTransaction } from "../postgres/transaction.ts";
import { type ClaimInput, type GroundedClaim, groundClaim } from "../rag/answer.ts";
import { findEvidence } from "../rag/evidence.ts";
import { type Language, languageOf } from "../rag/languages.ts";
import { sourceIdsOf } from "../rag/passages.ts";
import { partsOf, type RagScope, refusal, resolveScope } from "../rag/scope.ts";
import { requireLength, unitVector } from "../rag/vectors.ts";

export interface GroundingInput {
  /** What was asked, 1 to 2,000 characters. */
  question: string;
  scope: RagScope;
  /** The statements that an answer would make, 1 to 20. */
  claims: ClaimInput[];
  /** How it answers; `qa` is the one there is. */
  mode: "qa";
  /** Only these documents of the scope, at most 100. (Default: all) */
  sourceIds?: string[];
  /** How the words of the claims are stemmed: as those of the documents were. (Default: `english`) */
  language?: Language;
  /** How much is looked at for each claim, and how much is cited. */
  budget?: GroundingBudget;
  /**
   * From which cosine similarity on a passage counts as one that speaks of the same, 0 to 1; for claims with a vector. It
   * depends on the model. (Default: 0.8)
   */
  minSimilarity?: number;
}

export interface GroundingBudget {
  /** Chunks that are read, 1 to 50. (Default: 20) */
  chunks?: number;
  /** Sentences that are judged, 1 to 50. (Default: 12) */
  sentences?: number;
  /** Sections that are cited, 1 to 10. (Default: 3) */
  citations?: number;
}

export interface GroundedAnswer {
  /** Whether every claim is supported. */
  grounded: boolean;
  claims: GroundedClaim[];
  /** The supported claims as one text; absent when there are none. */
  answer?: string;
  meta: {
    question: string;
    mode: "qa";
    /** Sentences that were judged. */
    sentences: number;
    /** How many claims have which status. */
    supported: number;
    partiallySupported: number;
    insufficientEvidence: number;
  };
}

/** The `grounding` of a context. */
export interface ContextGrounding {
  /**
   * Looks each claim up in the documents that the caller may read.
   *
   * @throws SvcError BAD_REQUEST, UNAUTHORIZED for a scope that needs a session, FORBIDDEN for another owner
   */
  answer(input: GroundingInput): Promise<GroundedAnswer>;
}

/** @param userId the caller, null when nobody is signed in */
export function contextGrounding(transaction: RequestTransaction, userId: string | null): ContextGrounding {
  return {
    async answer(input) {
      const { question, claims, mode, sourceIds } = partsOf(input);
      const scope = resolveScope(input.scope, userId);
      if (mode !== "qa") throw refusal("mode", "qa");
      refuseText("question", question, 2_000);
      if (!Array.isArray(claims) || claims.length === 0 || claims.length > 20)
        throw refusal("claims", "1 to 20 claims");
      for (const [index, claim] of claims.entries()) refuseClaim(`claims.${index}`, claim);
      const { chunks, sentences, citations } = budgetOf(input.budget);
      const { minSimilarity = 0.8 } = input;
      if (!(typeof minSimilarity === "number" && minSimilarity >= 0 && minSimilarity <= 1)) {
        throw refusal("minSimilarity", "a number from 0 to 1");
      }
      const vectors = claims.map(({ vector }, index) =>
        vector === undefined ? undefined : unitVector(`claims.${index}.vector`, vector),
      );
      await requireLength(transaction, scope, vectors);

      const rows = await findEvidence(transaction, {
        claims: claims.map(({ claimText }) => claimText),
        language: languageOf(input.language),
        scope,
        sourceIds: sourceIdsOf(sourceIds),
        chunks,
        sentences,
        vectors,
      });
      const found = Map.groupBy(rows, ({ claim }) => claim);
      return answerOf(
        question,
        claims.map((claim, index) => groundClaim(claim, found.get(index + 1) ?? [], { citations, minSimilarity })),
        rows.length,
      );
    },
  };
}

function budgetOf(budget: GroundingBudget = {}): Required<GroundingBudget> {
  const { chunks = 20, sentences = 12, citations = 3 } = budget ?? {};
  for (const [name, value, most] of [
    ["chunks", chunks, 50],
    ["sentences", sentences, 50],
    ["citations", citations, 10],
  ] as const) {
    const isFine = Number.isInteger(value) && value >= 1 && value <= most;
    if (!isFine) throw refusal(`budget.${name}`, `a number from 1 to ${most}`);
  }
  return { chunks, sentences, citations };
}

function answerOf(question: string, claims: GroundedClaim[], sentences: number): GroundedAnswer {
  const having = (status: GroundedClaim["status"]) => claims.filter((claim) => claim.status === status);
  const supported = having("supported");
  return {
    grounded: supported.length === claims.length,
    claims,
    ...(supported.length > 0 && { answer: supported.map(({ claimText }) => claimText).join(" ") }),
    meta: {
      question,
      mode: "qa",
      sentences,
      supported: supported.length,
      partiallySupported: having("partially_supported").length,
      insufficientEvidence: having("insufficient_evidence").length,
    },
  };
}

function refuseClaim(path: string, claim: unknown): void {
  const { claimText, requiredTerms = [] } = (claim ?? {}) as Partial<Record<keyof ClaimInput, unknown>>;
  refuseText(`${path}.claimText`, claimText, 2_000);
  const isTerms = Array.isArray(requiredTerms) && requiredTerms.length <= 20;
  if (!isTerms) throw refusal(`${path}.requiredTerms`, "at most 20 words or phrases");
  for (const term of requiredTerms) refuseText(`${path}.requiredTerms`, term, 200);
}

function refuseText(path: string, value: unknown, longest: number): void {
  if (typeof value === "string" && value.trim() !== "" && value.length <= longest) return;
  throw refusal(path, `a text of 1 to ${longest} characters`);
}
