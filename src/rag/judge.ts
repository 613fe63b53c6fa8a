/**
 * Judges how far a section supports a claim, by rules: SQL counts shared words; this file adds similar words,
 * compares directions (increase or reduce), and looks for contradictions. It uses no language model.
 * Next hop: `coverage.ts`, `conflicts.ts`, `directions.ts`, `predicates.ts`; `answer.ts` decides the status, such as `supported`.
 */
import type { Conflict } from "../contract/grounding.ts";
import { conflictsBetween } from "./conflicts.ts";
import { type Covering, coverageOf, weightsOf } from "./coverage.ts";
import { compareDirections, type Direction } from "./directions.ts";
import { holdsPredicate } from "./predicates.ts";
import { replacesWord } from "./replacements.ts";
import { holdsSpecifics } from "./specifics.ts";

/** A row of svc.find_evidence(). */
export interface Evidence extends Covering {
  sourceTitle: string;
  sectionId: string;
  sectionPath: string[];
  chunkText: string;
  /** As `coverage`, for the chunk and its headings; words of the same stem count in part. */
  chunkCoverage: number;
}

/** A sentence that was compared with a claim. */
export interface Judged {
  conflicts: Conflict[];
  /** Support by this sentence, 0 to 1. */
  support: number;
  /** Whether it states the claim, together with its section. */
  states: boolean;
}

/**
 * The coverage that a section needs to support a claim, and how much a conflict lowers its confidence. Chosen on one half of SciFact's
 * training claims; tests/rag/scifact.test.ts measures the other half (docs/adr/0032).
 */
const minimumCoverage = { section: 0.7, sentence: 0.4 };
/** The share of sentences that may have another direction. */
const maxTurnedShare = 0.7;
const penalties = { turned: 0.3, opposite: 0.3, negation: 0.1, number: 0.1, unit: 0.1 };
/** Conflicts count in this many sentences with the best coverage. */
const sentenceLimit = 4;

/**
 * Judges the sentences of one section. Each section is judged alone, so that further passages do not lower the support.
 *
 * @param rows best coverage first
 */
export function judgeSection<Row extends Evidence>(
  claim: string,
  rows: Row[],
): { judged: (Row & Judged)[]; confidence: number } {
  const weights = weightsOf(rows);
  const covered = coverageOf(claim, weights, rows);
  const compared = rows.map((row) => ({
    row,
    conflicts: conflictsBetween(claim, row.sentence),
    direction: compareDirections(claim, row.sentence),
  }));
  const turned = turnedShare(compared.map(({ direction }) => direction));
  const passage = [...new Set(rows.map(passageOf))].join("\n");
  const isCovered = covered >= minimumCoverage.section && turned <= maxTurnedShare && holdsSpecifics(claim, passage);
  const judged = compared.map(({ row, conflicts, direction }) => ({
    ...row,
    conflicts,
    support: 0.7 * row.coverage + 0.3 * row.chunkCoverage,
    states:
      isCovered &&
      conflicts.length === 0 &&
      direction.agrees &&
      coverageOf(claim, weights, [row]) >= minimumCoverage.sentence &&
      holdsPredicate(claim, row.sentence) &&
      !replacesWord(claim, row.sentence),
  }));
  return { judged, confidence: covered * (1 - penalties.turned * turned) * (1 - penaltyOf(judged)) };
}

/** The chunk with its headings and the title of its source. */
export const passageOf = ({ sourceTitle, sectionPath, chunkText }: Evidence) =>
  [sourceTitle, ...sectionPath, chunkText].join("\n");

function turnedShare(directions: Direction[]): number {
  const total = directions.reduce((sum, { weight }) => sum + weight, 0);
  return total === 0 ? 0 : directions.reduce((sum, { agrees, weight }) => sum + (agrees ? 0 : weight), 0) / total;
}

function penaltyOf(judged: (Evidence & Judged)[]): number {
  const best = judged.slice(0, sentenceLimit);
  const total = best.reduce((sum, { coverage }) => sum + coverage ** 2, 0);
  if (total === 0) return 0;
  const share = (conflict: Conflict) =>
    best.reduce((sum, one) => sum + (one.conflicts.includes(conflict) ? one.coverage ** 2 : 0), 0) / total;
  return (
    penalties.opposite * Math.max(share("opposite"), share("order")) +
    (best[0]?.conflicts.includes("negation") ? penalties.negation : 0) +
    penalties.number * share("number") +
    penalties.unit * share("unit")
  );
}
