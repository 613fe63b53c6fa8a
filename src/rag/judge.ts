/**
 * Judges whether sentences that resemble a claim state the same. It uses no language model: SQL counts shared words,
 * and this looks for contradictions.
 * Next hop: `conflicts.ts`; `answer.ts` makes a status of it.
 */
import type { Conflict } from "../contract/grounding.ts";
import { confirmsDirection, conflictsBetween } from "./conflicts.ts";

/** A row of svc.find_evidence(). */
export interface Evidence {
  sentence: string;
  chunkText: string;
  /** Share of the claim's weight that the sentence covers, 0 to 1. */
  coverage: number;
  /** The same for the chunk and its headings; words of the same stem count in part. */
  chunkCoverage: number;
}

/** A sentence that was compared with a claim. */
export interface Judged {
  conflicts: Conflict[];
  /** Support by this sentence, 0 to 1. */
  support: number;
}

/** Several sentences of a passage may cover the claim; this many of the best are judged. */
const sentenceLimit = 4;

/**
 * How much each kind of conflict lowers a claim's confidence. Tuned on one half of SciFact's training claims;
 * tests/rag/scifact.test.ts measures the other half.
 */
const doubt = { opposite: 0.4, negation: 0.2, number: 0.1, unit: 0.1, unconfirmed: 0.1 };

export function judgeSentence(claim: string, { sentence, coverage, chunkCoverage }: Evidence): Judged {
  const conflicts = conflictsBetween(claim, sentence);
  return { conflicts, support: 0.7 * coverage + 0.3 * chunkCoverage };
}

/**
 * How far the evidence supports a claim: the coverage of the best chunk, minus the conflicts of the best sentences,
 * each weighted by the square of its coverage.
 *
 * @param judged best coverage first
 * @returns 0 to 1: a ranking of claims by support, not a probability
 */
export function confidenceOf(claim: string, judged: (Evidence & Judged)[]): number {
  const best = judged.slice(0, sentenceLimit);
  const total = best.reduce((sum, { coverage }) => sum + coverage ** 2, 0);
  if (total === 0) return 0;
  const share = (holds: (one: Evidence & Judged) => boolean) =>
    best.reduce((sum, one) => sum + (holds(one) ? one.coverage ** 2 : 0), 0) / total;
  const has = (conflict: Conflict) => share(({ conflicts }) => conflicts.includes(conflict));

  const doubts =
    doubt.opposite * has("opposite") +
    (best[0]?.conflicts.includes("negation") ? doubt.negation : 0) +
    doubt.number * has("number") +
    doubt.unit * has("unit") +
    doubt.unconfirmed * share(({ sentence }) => !confirmsDirection(claim, sentence));
  return Math.max(...judged.map(({ chunkCoverage }) => chunkCoverage)) * (1 - doubts);
}
