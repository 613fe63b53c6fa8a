/**
 * Finds a word of a claim that a sentence replaces by another: "members of the rowing club", "members of the sailing club".
 * Next hop: `likeness.ts`.
 */
import { isCommon, isUnspaced, wordsOf } from "../text/words.ts";
import { formsAmong } from "./likeness.ts";
import { haveSameDirection } from "./opposites.ts";

/** Whether a sentence has the neighbours of a word that it lacks, and another word between them. */
export function replacesWord(claim: string, sentence: string): boolean {
  const [ours, theirs] = [wordsOf(claim), wordsOf(sentence)];
  const has = formsAmong(theirs);
  const known = new Set(ours);
  const others = [...theirs.entries()].filter(([, word]) => !isCommon(word) && !known.has(word));
  return ours.some((word, at) => {
    if (isCommon(word) || isUnspaced(word)) return false;
    const [before, after] = [ours[at - 1], ours[at + 1]];
    const isReplaced = others.some(([place, other]) => {
      const isBefore = before !== undefined && theirs[place - 1] === before;
      const isAfter = after !== undefined && theirs[place + 1] === after;
      const isEnd = isBefore && after === undefined && at > 1 && theirs[place - 2] === ours[at - 2];
      return ((isBefore && isAfter) || isEnd) && !haveSameDirection(word, other);
    });
    return isReplaced && has(word) === 0;
  });
}
