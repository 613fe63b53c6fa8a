/**
 * Compares comparisons: "A is larger than B" and "B is larger than A" have the same words and contradict each other.
 * Next hop: `opposites.ts`.
 */
import { piecesOf, wordsOf } from "../text/words.ts";
import { areAlike, formsAmong } from "./likeness.ts";
import { areOpposed, haveSameDirection } from "./opposites.ts";

interface Comparison {
  left: string[];
  right: string[];
  /** The comparative: larger, more, exceeds. */
  by: string;
}

/** Verbs that compare without "than". */
const verb = /^(?:exceed|outperform|surpass|outweigh|outnumber|outlast|outrank|overtak|overtook|beat|precede|follow)/;
/** "more", "fewer" and words such as "larger", before "than". */
const comparative = /^(?:more|less|fewer|worse|better|\p{L}+er)$/u;

/**
 * @returns `swapped` if the sentence compares the claim's things the other way around, `mirrored` if it also turns the
 *   comparative around, which makes it agree
 */
export function compareOrders(claim: string, sentence: string): "swapped" | "mirrored" | undefined {
  const ours = comparisonOf(wordsOf(claim));
  if (ours === undefined) return;
  for (const part of sentence.split(/[;:]|, (?=but|while|whereas)/)) {
    const theirs = comparisonOf(wordsOf(part));
    if (theirs === undefined || !isAround(ours, theirs)) continue;
    if (areOpposed(ours.by, theirs.by)) return "mirrored";
    if (areAlike(ours.by.slice(0, 6), theirs.by) || haveSameDirection(ours.by, theirs.by)) return "swapped";
  }
}

function comparisonOf(words: string[]): Comparison | undefined {
  const than = words.indexOf("than");
  const at = than > 0 ? words.findLastIndex((word, place) => place < than && comparative.test(word)) : -1;
  const by = at >= 0 ? at : words.findIndex((word) => verb.test(word));
  if (by <= 0) return;
  const right = words.slice((at >= 0 ? than : by) + 1);
  return { left: piecesOf(words.slice(0, by)), right: piecesOf(right), by: words[by] as string };
}

/** Whether each side has more in common with the other's other side. */
function isAround(ours: Comparison, theirs: Comparison): boolean {
  // Words of both sides are of what is compared: "the incidence of A is higher than the incidence of B".
  const only = (words: string[], other: string[]) => words.filter((word) => !other.includes(word));
  const [left, right] = [only(ours.left, ours.right), only(ours.right, ours.left)];
  const share = (words: string[], among: string[]) => {
    const formOf = formsAmong(among);
    return words.filter((word) => formOf(word) > 0).length / Math.max(1, words.length);
  };
  const around = Math.min(share(left, theirs.right), share(right, theirs.left));
  const straight = Math.max(share(left, theirs.left), share(right, theirs.right));
  return around > 0 && around > straight;
}
