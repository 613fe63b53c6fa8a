/**
 * The direction of statements: "X increases Y" and "lack of X reduces Y" have one direction, "X does not increase Y" the
 * other. Each denial, and each word that says less, turns it.
 * Next hop: `opposites.ts`, `denials.ts`.
 */
import { isCommon, piecesOf, wordsOf } from "../text/words.ts";
import { denies } from "./denials.ts";
import { formsAmong, longClaim } from "./likeness.ts";
import { directionOf } from "./opposites.ts";

const part = /[;:,]|\b(?:but|whereas|while|although|though|however)\b/i;

const turnOf = (word: string): 1 | -1 => (directionOf(word) === -1 || denies(word) ? -1 : 1);
const directionOfAll = (words: string[]) => words.reduce((sum: number, word) => sum * turnOf(word), 1);

export interface Direction {
  /** Whether the part of the sentence that is nearest to the claim has the claim's direction. */
  agrees: boolean;
  /** Share of the claim's subjects in that part, 0 to 1. */
  weight: number;
}

/** Compares the claim with the part of the sentence, between commas, that has most of its subjects. */
export function compareDirections(claim: string, sentence: string): Direction {
  const ours = piecesOf(wordsOf(claim));
  const subjects = ours
    .filter((word) => !isCommon(word) && directionOf(word) === 0 && !denies(word))
    .slice(0, longClaim);
  const inSentence = formsAmong(piecesOf(wordsOf(sentence)));
  const shared = subjects.filter((subject) => inSentence(subject) > 0);
  let nearest: { words: string[]; weight: number } = { words: [], weight: -1 };
  for (const text of sentence.split(part)) {
    const words = piecesOf(wordsOf(text));
    if (words.length === 0) continue;
    const formOf = formsAmong(words);
    const weight = shared.reduce((sum, subject) => sum + formOf(subject), 0) / Math.max(1, subjects.length);
    if (weight > nearest.weight) nearest = { words, weight };
  }
  return { agrees: directionOfAll(ours) === directionOfAll(nearest.words), weight: Math.max(0, nearest.weight) };
}
