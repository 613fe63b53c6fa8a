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

/** How much more of the claim's subjects the whole sentence must have than its best part, to be compared as a whole. */
const wholeAhead = 0.15;

/** Compares the claim with the part of the sentence, between commas, that has most of its subjects. */
export function compareDirections(claim: string, sentence: string): Direction {
  const ours = piecesOf(wordsOf(claim));
  const subjects = ours
    .filter((word) => !isCommon(word) && directionOf(word) === 0 && !denies(word))
    .slice(0, longClaim);
  const weigh = (text: string, among: string[]) => {
    const words = piecesOf(wordsOf(text));
    const formOf = formsAmong(words);
    const held = among.map((subject) => [subject, formOf(subject)] as const).filter(([, share]) => share > 0);
    const weight = held.reduce((sum, [, share]) => sum + share, 0) / Math.max(1, subjects.length);
    return { words, weight, held: held.map(([subject]) => subject) };
  };

  const whole = weigh(sentence, subjects);
  const parts = sentence.split(part).map((text) => weigh(text, whole.held));
  const best = parts.reduce((most, one) => (one.weight > most.weight ? one : most));
  const nearest = whole.weight > best.weight + wholeAhead ? whole : best;
  return { agrees: directionOfAll(ours) === directionOfAll(nearest.words), weight: nearest.weight };
}
