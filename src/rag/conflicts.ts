/**
 * What speaks against two sentences saying the same although they share words: one denies, they name different numbers
 * or units, or opposite directions.
 * Next hop: `numbers.ts` and `opposites.ts`.
 */
import { numbersDiffer, unitsDiffer } from "./numbers.ts";
import { opposites } from "./opposites.ts";
import { wordsOf } from "./words.ts";

export type Conflict = "negation" | "number" | "unit" | "opposite";

/** @returns one entry for each kind of conflict; none says nothing about agreement */
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

/** Two denials make none: "not without" is "with". */
const isDenied = (words: string[]) =>
  words.filter((word) => denials.has(word) || word.endsWith("n't") || failures.test(word)).length % 2 === 1;

/** A word of one whose opposite stands in the other, which lacks the word itself. */
const isOpposed = (ours: string[], theirs: string[]) =>
  ours.some((word) => {
    const against = opposites.get(word);
    return against !== undefined && !theirs.includes(word) && theirs.some((other) => against.has(other));
  });
