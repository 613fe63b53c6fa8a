/**
 * Whether sentences that resemble a claim say the same. No language model is asked: what is shared is counted in SQL,
 * and what speaks against it is looked for here.
 * Next hop: `conflicts.ts`; `answer.ts` makes a status of it.
 */
import type { Conflict } from "../contract/grounding.ts";
import { confirmsDirection, conflictsBetween } from "./conflicts.ts";

/** A row of svc.find_evidence(). */
export interface Evidence {
  sentence: string;
  chunkText: string;
  /** Share of the claim's weight in the sentence, 0 to 1. */
  coverage: number;
  /** The same in the chunk and its headings, words of the same stem counting in part. */
  chunkCoverage: number;
}

/** A sentence that was held against a claim. */
export interface Judged {
  conflicts: Conflict[];
  /** Of the sentence alone, 0 to 1. */
  support: number;
}

/** Some say more of the claim than their neighbours do; the claim is judged by the best of them. */
const sentenceLimit = 4;

/**
 * What each kind of conflict takes from a claim's confidence. Chosen on one half of SciFact's training claims; the test
 * tests/rag/scifact.test.ts measures them on the other.
 */
const doubt = { opposite: 0.4, negation: 0.2, number: 0.1, unit: 0.1, unconfirmed: 0.1 };

export function judgeSentence(claim: string, { sentence, coverage, chunkCoverage }: Evidence): Judged {
  const conflicts = conflictsBetween(claim, sentence);
  return { conflicts, support: 0.7 * coverage + 0.3 * chunkCoverage };
}

/**
 * How far all that was found supports a claim: what the best chunk shares with it, less what the best sentences hold
 * against it, each counting by the square of its coverage.
 *
 * @param judged best coverage first
 * @returns 0 to 1; an order of claims by their support, not a probability
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
