/**
 * Compares comparisons: "A is larger than B" and "B is larger than A" have the same words and contradict each other.
 * Next hop: `opposites.ts`.
 */
import { isCommon, piecesOf, wordsOf } from "../text/words.ts";
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
/** Words that end what is compared. */
const adjunct = new Set("in at on for from by with during among when if while since".split(" "));
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
  const behind = words.slice((at >= 0 ? than : by) + 1);
  const end = behind.findIndex((word, place) => place > 0 && adjunct.has(word));
  const right = end < 0 ? behind : behind.slice(0, end);
  return { left: contentOf(words.slice(0, by)), right: contentOf(right), by: words[by] as string };
}

const contentOf = (words: string[]) => piecesOf(words).filter((word) => word.length === 1 || !isCommon(word));

/** Whether things of each side are on the other's other side. */
function isAround(ours: Comparison, theirs: Comparison): boolean {
  const moved = (words: string[], from: string[], to: string[]) => {
    const [stays, goes] = [formsAmong(from), formsAmong(to)];
    return words.reduce((sum, word) => sum + Math.sign(goes(word)) - Math.sign(stays(word)), 0);
  };
  // What stays on the left is the verb: "A costs more than B".
  const fromLeft = ours.left.filter((word) => !theirs.left.includes(word));
  return moved(fromLeft, theirs.left, theirs.right) > 0 && moved(ours.right, theirs.right, theirs.left) > 0;
}
