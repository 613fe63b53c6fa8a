// If this file fails, adding a document that does not contradict a claim takes away its support.
import { expect, test } from "vitest";
import type { GroundedClaim } from "../../src/contract/grounding.ts";
import { type FoundEvidence, groundClaim } from "../../src/rag/answer.ts";
import { isCommon, wordsOf } from "../../src/text/words.ts";
import { fc } from "../support/properties.ts";

const subjects = ["rain", "traffic", "the old harbour", "copper", "boats of the club", "Lisbon"];
const verbs = ["increases", "reduces", "causes", "prevents", "costs more than", "is related to", "is unrelated to"];
const ends = ["", " in winter", " by 12 euros", " by 15 euros", ", but not in spring", " because of fees"];

const statement = fc
  .tuple(
    fc.constantFrom(...subjects),
    fc.constantFrom(...verbs),
    fc.constantFrom(...subjects),
    fc.constantFrom(...ends),
  )
  .map(([one, verb, other, end]) => `${one} ${verb} ${other}${end}.`);
const passage = fc.array(statement, { minLength: 1, maxLength: 4 });
const rank = { insufficient_evidence: 0, partially_supported: 1, supported: 2 };

/** What SQL would find, with equal weights of words. */
function evidenceOf(claim: string, passages: string[][]): FoundEvidence[] {
  const words = [...new Set(wordsOf(claim).filter((word) => !isCommon(word)))];
  const held = (text: string) => words.filter((word) => wordsOf(text).includes(word));
  const rows = passages.flatMap((sentences, place) => {
    const chunkText = sentences.join(" ");
    const id = `${place}`;
    return sentences.map((sentence) => ({
      ...{ sentence, chunkText, sourceId: id, sectionId: id, chunkId: id, sourceTitle: "Text", sectionPath: [] },
      ...{ pageStart: 1, similarity: null, matched: held(sentence) },
      missing: words.filter((word) => !held(sentence).includes(word)),
      coverage: held(sentence).length / words.length,
      chunkCoverage: held(chunkText).length / words.length,
    }));
  });
  return rows.sort((a, b) => b.coverage - a.coverage);
}

test("a further passage lowers a status only by a conflict, and never takes all support away", () => {
  const seen = { supported: 0, lowered: 0 };
  fc.assert(
    fc.property(statement, fc.array(passage, { minLength: 1, maxLength: 3 }), passage, (claim, passages, further) => {
      const judge = (all: string[][]): GroundedClaim =>
        groundClaim({ claimText: claim }, evidenceOf(claim, all), { citations: 3, minSimilarity: 0.8 });
      const [before, after] = [
        judge([[claim], ...passages].slice(claim.length % 2)),
        judge([[claim], ...passages, further].slice(claim.length % 2)),
      ];
      if (before.status === "supported") {
        seen.supported += 1;
        expect(after.status).not.toBe("insufficient_evidence");
      }
      expect(after.confidence).toBeGreaterThanOrEqual(before.confidence);
      if (rank[after.status] < rank[before.status]) {
        seen.lowered += 1;
        expect(after.conflicts).not.toEqual([]);
      }
    }),
    { numRuns: 2_000 },
  );
  // Otherwise the property would hold for nothing.
  expect(seen.supported).toBeGreaterThan(200);
  expect(seen.lowered).toBeGreaterThan(5);
});
