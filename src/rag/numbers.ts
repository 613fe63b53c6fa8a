/** Compares numbers and their units. Next hop: `conflicts.ts`. */
import { isNumber, isUnspaced } from "../text/words.ts";

/**
 * Whether the sentence has numbers but lacks the claim's, or uses the claim's number for something else. A sentence
 * without numbers may state the claim in other words.
 */
export function numbersDiffer(claim: string[], sentence: string[]): boolean {
  const [ours, theirs] = [placesOf(claim), placesOf(sentence)];
  if (ours.length === 0 || theirs.length === 0) return false;
  return ours.some(({ number, near }) => {
    const same = theirs.filter((other) => other.number === number);
    if (same.length === 0) return true;
    const others = theirs.filter((other) => ours.some((one) => one.number === other.number && other.number !== number));
    const shared = (other: Place) => other.near.filter((word) => near.includes(word)).length;
    return Math.max(0, ...others.map(shared)) > Math.max(...same.map(shared));
  });
}

/** Whether the same number has another unit: 12 euros, 12 dollars. */
export function unitsDiffer(claim: string[], sentence: string[]): boolean {
  return placesOf(claim).some(({ number, unit }) => {
    if (unit === undefined) return false;
    const theirs = placesOf(sentence).filter((other) => other.number === number && other.unit !== undefined);
    return theirs.length > 0 && !theirs.some((other) => other.unit === unit) && !sentence.map(singular).includes(unit);
  });
}

interface Place {
  number: string;
  /** The following word, unless it can follow any number. */
  unit: string | undefined;
  /** The neighbouring words. */
  near: string[];
}

const placesOf = (words: string[]): Place[] =>
  words.flatMap((word, at) => {
    if (!isNumber(word)) return [];
    const next = words[at + 1];
    const unit = next === undefined || isNumber(next) || common.has(next) ? undefined : singular(next);
    const near = words.slice(Math.max(0, at - 2), at + 3).filter((other) => !isNumber(other) && !common.has(other));
    return [{ number: word, unit, near: near.map(singular) }];
  });

/** Removes the plural's s, or suffixes of other scripts. */
const singular = (word: string) =>
  isUnspaced(word) ? word.slice(0, 1) : word.length > 3 && word.endsWith("s") ? word.slice(0, -1) : word;

const common = new Set(
  "a an the of in on at to by for from with and or as is are was were be been it its this that than per up out who".split(
    " ",
  ),
);
