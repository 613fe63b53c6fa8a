/**
 * Whether a sentence that resembles a claim says the same. It knows no language model: it counts what is missing and
 * looks for what speaks against it.
 * Next hop: `answer.ts`.
 */
import { type Conflict, conflictsBetween } from "./conflicts.ts";

/** A row of svc.find_evidence(). */
export interface Evidence {
  sentence: string;
  chunkText: string;
  /** Share of the claim's weight in the sentence, and in the chunk with its headings; 0 to 1. */
  coverage: number;
  chunkCoverage: number;
}

export interface Judgement {
  /** How far the sentence supports the claim, 0 to 1. */
  support: number;
  conflicts: Conflict[];
}

/** Each thing that speaks against it leaves this share of the support. */
const keptByConflict = 0.5;

export function judge(claim: string, evidence: Evidence): Judgement {
  const conflicts = conflictsBetween(claim, evidence.sentence);
  const overlap = 0.7 * evidence.coverage + 0.3 * evidence.chunkCoverage;
  return { support: overlap * keptByConflict ** conflicts.length, conflicts };
}
