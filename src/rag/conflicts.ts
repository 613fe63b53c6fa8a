/**
 * Finds contradictions between two sentences that share words: one of them is negated, or they have different numbers,
 * units, opposite words, or compare the same things the other way around.
 * Next hop: `denials.ts`, `numbers.ts`, `opposites.ts`, `comparisons.ts`.
 */
import type { Conflict } from "../contract/grounding.ts";
import { piecesOf, wordsOf } from "../text/words.ts";
import { compareOrders } from "./comparisons.ts";
import { arePrivative, denies, rootOf } from "./denials.ts";
import { numbersDiffer, unitsDiffer } from "./numbers.ts";
import { areOpposed, hasOpposite } from "./opposites.ts";

/** @returns one entry for each kind of conflict; an empty list does not mean agreement */
export function conflictsBetween(claim: string, sentence: string): Conflict[] {
  const [ours, theirs] = [wordsOf(claim), wordsOf(sentence)];
  const order = compareOrders(claim, sentence);
  const found: Conflict[] = [];
  if ((isDenied(ours) !== isDenied(theirs)) !== hasPrivative(ours, theirs)) found.push("negation");
  if (numbersDiffer(ours, theirs)) found.push("number");
  else if (unitsDiffer(ours, theirs)) found.push("unit");
  if (order === "swapped") found.push("order");
  // "A is larger than B" and "B is smaller than A" say the same.
  const isOpposite =
    isOpposed(piecesOf(ours), piecesOf(theirs)) || isOpposed(ours.filter(isCompound), theirs.filter(isCompound));
  if (order !== "mirrored" && isOpposite) found.push("opposite");
  return found;
}

/** Two negations cancel out: "not without" is "with". */
const isDenied = (words: string[]) => words.filter(denies).length % 2 === 1;

const hasPrivative = (claim: string[], sentence: string[]) => {
  const candidates = Map.groupBy(sentence, rootOf);
  return lacking(claim, sentence).some((word) =>
    candidates.get(rootOf(word))?.some((other) => arePrivative(word, other)),
  );
};

/** Whether the sentence has the opposite of a word and lacks the word itself. */
const isOpposed = (claim: string[], sentence: string[]) => {
  const candidates = sentence.filter((word) => hasOpposite(lastPart(word)));
  return lacking(claim, sentence).some((word) => candidates.some((other) => areOpposites(word, other)));
};

/** Compounds are opposites by their last part, if the rest is the same: heat-sensitive, heat-resistant. */
const areOpposites = (one: string, other: string) =>
  one.slice(0, -lastPart(one).length) === other.slice(0, -lastPart(other).length) &&
  areOpposed(lastPart(one), lastPart(other));

const lastPart = (word: string) => word.slice(word.lastIndexOf("-") + 1);
const isCompound = (word: string) => word.includes("-");

const lacking = (claim: string[], sentence: string[]) => {
  const held = new Set(sentence);
  return claim.filter((word) => !held.has(word));
};
