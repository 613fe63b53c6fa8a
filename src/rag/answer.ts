/**
 * Decides whether a claim is supported, by the evidence that was found for it, and chooses the citations.
 * Next hop: `judge.ts` judges each section.
 */
import type { Citation, ClaimInput, GroundedClaim } from "../contract/grounding.ts";
import { comparable } from "../text/composed.ts";
import { type Evidence, judgeSection, passageOf } from "./judge.ts";
import { holdsSpecifics } from "./specifics.ts";

/** A row of svc.find_evidence(), with its position. */
export interface FoundEvidence extends Evidence {
  sourceId: string;
  chunkId: string;
  pageStart: number;
  /** Similarity of the chunk's vector to the claim's; null without vectors. */
  similarity: number | null;
}

/** A claim is partially supported if one sentence supports it at least this much. */
const minimumPartialSupport = 0.4;

export interface GroundingChoices {
  /** Sections to cite for each claim. */
  citations: number;
  /** Minimum vector similarity of a passage on the same subject. */
  minSimilarity: number;
}

/**
 * Judges one claim by all its evidence, section by section. A sentence counts when its passage has the required terms, when it
 * does not contradict the claim, and when no sentence with a higher coverage contradicts the claim.
 *
 * More evidence never lowers the status, unless it contradicts the claim. Then `conflicts` says why.
 *
 * A passage that is similar to the claim only by its vector makes the claim at most partially supported: the vectors of a
 * statement and of its denial are almost equal.
 */
export function groundClaim(
  claim: ClaimInput,
  found: FoundEvidence[],
  { citations, minSimilarity }: GroundingChoices,
): GroundedClaim {
  const { claimText } = claim;
  const usable = found.filter((one) => holdsTerms(claim, one));
  const sections = [...Map.groupBy(usable, ({ sectionId }) => sectionId).values()];
  const verdicts = sections.map((rows) => judgeSection(claimText, rows));
  const judged = verdicts.flatMap((verdict) => verdict.judged).sort((a, b) => b.support - a.support);
  const isLike = (one: FoundEvidence) =>
    (one.similarity ?? -1) >= minSimilarity && holdsSpecifics(claimText, passageOf(one));

  const [against] = judged.filter(({ conflicts }) => conflicts.length > 0).sort((a, b) => b.coverage - a.coverage);
  const outweighs = ({ coverage }: FoundEvidence) => coverage >= (against?.coverage ?? 0);
  const supporting = judged.filter(({ states }) => states);
  const counted = judged
    .filter((one) => one.conflicts.length === 0 && (one.support >= minimumPartialSupport || isLike(one)))
    .filter(outweighs);
  const isSupported = supporting.some(outweighs);
  // Evidence for all of the claim needs no evidence for parts of it.
  const cited = isSupported ? supporting.filter(outweighs) : supporting.length > 0 ? supporting : counted;
  return {
    claimText,
    status: isSupported ? "supported" : cited.length > 0 ? "partially_supported" : "insufficient_evidence",
    confidence: round(Math.max(0, ...verdicts.map(({ confidence }) => confidence))),
    citations: citationsOf(cited).slice(0, citations),
    judgedBy: "rules",
    conflicts: isSupported || (counted.length > 0 && supporting.length === 0) ? [] : (against?.conflicts ?? []),
  };
}

/** One citation per section, best first. */
export function citationsOf(evidence: (FoundEvidence & { support: number })[]): Citation[] {
  const sections = Map.groupBy(evidence, ({ sectionId }) => sectionId);
  return [...sections.values()].map((found) => {
    const [best] = found as [(typeof found)[number]];
    return {
      sourceId: best.sourceId,
      sourceTitle: best.sourceTitle,
      sectionId: best.sectionId,
      sectionPath: best.sectionPath,
      chunkIds: [...new Set(found.map(({ chunkId }) => chunkId))],
      pageStart: best.pageStart,
      snippet: best.sentence.trim(),
      coverage: round(best.coverage),
      confidence: round(best.support),
      ...(best.similarity !== null && { similarity: round(best.similarity) }),
    };
  });
}

export const holdsTerms = ({ requiredTerms = [] }: ClaimInput, { chunkText }: FoundEvidence): boolean =>
  requiredTerms.every((term) => holds(chunkText, term));

/** Whether the term occurs as a separate word or phrase: `cat` is not in `category`. */
function holds(text: string, term: string): boolean {
  const edge = (side: string | undefined) => side !== undefined && /[\p{L}\p{N}]/u.test(side);
  const [haystack, needle] = [fold(text), fold(term)];
  for (let at = haystack.indexOf(needle); at >= 0; at = haystack.indexOf(needle, at + 1)) {
    const [first, last] = [needle[0], needle.at(-1)];
    const isInside =
      (edge(first) && edge(haystack[at - 1])) || (edge(last) && edge(haystack[at + needle.length]) && !isHan(last));
    if (!isInside) return true;
  }
  return false;
}

const fold = (text: string) => comparable(text).toLowerCase().replaceAll(/\s+/g, " ").trim();
/** Scripts that write words without spaces, or attach particles to them. */
const isHan = (letter: string | undefined) =>
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u.test(letter ?? "");
export const round = (value: number) => Math.round(value * 1_000) / 1_000;
