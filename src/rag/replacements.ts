/**
 * Finds a word of a claim that a sentence replaces by another: "members of the rowing club", "members of the sailing
 * club".
 * Next hop: `likeness.ts`.
 */
import { isCommon, isUnspaced, wordsOf } from "../text/words.ts";
import { formsAmong } from "./likeness.ts";
import { haveSameDirection } from "./opposites.ts";

/** Whether a sentence has the neighbours of a word that it lacks, and another word between them. */
export function replacesWord(claim: string, sentence: string): boolean {
  const [ours, theirs] = [wordsOf(claim), wordsOf(sentence)];
  const has = formsAmong(theirs);
  return ours.some((word, at) => {
    if (isCommon(word) || isUnspaced(word)) return false;
    const [before, after] = [ours[at - 1], ours[at + 1]];
    const isReplaced = theirs.some((other, place) => {
      const isBefore = before !== undefined && theirs[place - 1] === before;
      const isAfter = after !== undefined && theirs[place + 1] === after;
      const isEnd = isBefore && after === undefined && at > 1 && theirs[place - 2] === ours[at - 2];
      if (!(isBefore && isAfter) && !isEnd) return false;
      return !isCommon(other) && !ours.includes(other) && !haveSameDirection(word, other);
    });
    return isReplaced && has(word) === 0;
  });
}
