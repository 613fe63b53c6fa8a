/**
 * Finds contradictions between two sentences that share words: one of them is negated, or they have different numbers,
 * units or opposite directions.
 * Next hop: `numbers.ts` and `opposites.ts`.
 */
import type { Conflict } from "../contract/grounding.ts";
import { wordsOf } from "../text/words.ts";
import { numbersDiffer, unitsDiffer } from "./numbers.ts";
import { opposites } from "./opposites.ts";

/** @returns one entry for each kind of conflict; an empty list does not mean agreement */
export function conflictsBetween(claim: string, sentence: string): Conflict[] {
  const [ours, theirs] = [wordsOf(claim), wordsOf(sentence)];
  const found: Conflict[] = [];
  if (isDenied(ours) !== isDenied(theirs)) found.push("negation");
  if (numbersDiffer(ours, theirs)) found.push("number");
  else if (unitsDiffer(ours, theirs)) found.push("unit");
  if (isOpposed(ours, theirs)) found.push("opposite");
  return found;
}

const denials = new Set(["no", "not", "never", "none", "neither", "nor", "cannot", "without", "nobody", "nothing"]);
const failures = /^(?:fail(?:s|ed|ing|ure)?|lack(?:s|ed|ing)?|absen(?:t|ce)|unable|unlikely)$/;
/** In Korean a negation is part of the verb. */
const koreanDenial = /않|없|못|아니|^안$/;

/** Two negations cancel out: "not without" is "with". */
const isDenied = (words: string[]) =>
  words.filter((word) => denials.has(word) || word.endsWith("n't") || failures.test(word) || koreanDenial.test(word))
    .length %
    2 ===
  1;

/** Whether the sentence has the opposite of a word and lacks the word itself. */
const isOpposed = (claim: string[], sentence: string[]) =>
  claim.some((word) => !sentence.includes(word) && sentence.some((other) => opposites.get(word)?.has(other)));

/** Whether a sentence has the claim's direction, such as more or less; true if the claim has none. */
export function confirmsDirection(claim: string, sentence: string): boolean {
  const directed = wordsOf(claim).filter((word) => opposites.has(word));
  const theirs = wordsOf(sentence);
  return directed.length === 0 || directed.some((word) => theirs.some((other) => isSameSide(word, other)));
}

const isSameSide = (word: string, other: string) =>
  word === other || [...(opposites.get(word) ?? [])].some((against) => opposites.get(against)?.has(other));
