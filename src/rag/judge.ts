/**
 * Judges how far a section supports a claim, by rules: SQL counts shared words; this adds words like them, compares
 * directions, and looks for contradictions. It uses no language model.
 * Next hop: `coverage.ts`, `conflicts.ts`, `directions.ts`, `predicates.ts`; `answer.ts` makes a status of it.
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
 * What a section needs to support a claim, and how much a conflict lowers its confidence. Chosen on one half of SciFact's
 * training claims; tests/rag/scifact.test.ts measures the other half (docs/adr/0032).
 */
const least = { section: 0.7, sentence: 0.4 };
/** The share of sentences that may have another direction. */
const mostTurned = 0.7;
const doubt = { turned: 0.3, opposite: 0.3, negation: 0.1, number: 0.1, unit: 0.1 };
/** Of several sentences with conflicts, so many of the best count. */
const sentenceLimit = 4;

/**
 * Judges the sentences of one section. A section is judged alone, so that further passages take no support away.
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
  const isCovered = covered >= least.section && turned <= mostTurned && holdsSpecifics(claim, passage);
  const judged = compared.map(({ row, conflicts, direction }) => ({
    ...row,
    conflicts,
    support: 0.7 * row.coverage + 0.3 * row.chunkCoverage,
    states:
      isCovered &&
      conflicts.length === 0 &&
      direction.agrees &&
      coverageOf(claim, weights, [row]) >= least.sentence &&
      holdsPredicate(claim, row.sentence) &&
      !replacesWord(claim, row.sentence),
  }));
  return { judged, confidence: covered * (1 - doubt.turned * turned) * (1 - doubtOf(judged)) };
}

/** The chunk with its headings and the title of its source. */
export const passageOf = ({ sourceTitle, sectionPath, chunkText }: Evidence) =>
  [sourceTitle, ...sectionPath, chunkText].join("\n");

function turnedShare(directions: Direction[]): number {
  const total = directions.reduce((sum, { weight }) => sum + weight, 0);
  return total === 0 ? 0 : directions.reduce((sum, { agrees, weight }) => sum + (agrees ? 0 : weight), 0) / total;
}

function doubtOf(judged: (Evidence & Judged)[]): number {
  const best = judged.slice(0, sentenceLimit);
  const total = best.reduce((sum, { coverage }) => sum + coverage ** 2, 0);
  if (total === 0) return 0;
  const share = (conflict: Conflict) =>
    best.reduce((sum, one) => sum + (one.conflicts.includes(conflict) ? one.coverage ** 2 : 0), 0) / total;
  return (
    doubt.opposite * Math.max(share("opposite"), share("order")) +
    (best[0]?.conflicts.includes("negation") ? doubt.negation : 0) +
    doubt.number * share("number") +
    doubt.unit * share("unit")
  );
}
