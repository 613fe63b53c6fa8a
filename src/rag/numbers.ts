/**
 * Numbers and what they count.
 * Next hop: `conflicts.ts`.
 */
import { isNumber, isUnspaced } from "../text/words.ts";

/**
 * Whether a claim's number is missing where the sentence has numbers, or counts there what another one counts in the
 * claim. A sentence without any number may be the claim in other words.
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

/** Whether the word after a number differs although the number is the same: 12 euros, 12 dollars. */
export function unitsDiffer(claim: string[], sentence: string[]): boolean {
  return placesOf(claim).some(({ number, unit }) => {
    if (unit === undefined) return false;
    const theirs = placesOf(sentence).filter((other) => other.number === number && other.unit !== undefined);
    return theirs.length > 0 && !theirs.some((other) => other.unit === unit) && !sentence.map(singular).includes(unit);
  });
}

interface Place {
  number: string;
  /** The word that follows, unless it is one that can follow any number. */
  unit: string | undefined;
  /** The words beside it. */
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

/** Without the plural's s, or what another script hangs on it. */
const singular = (word: string) =>
  isUnspaced(word) ? word.slice(0, 1) : word.length > 3 && word.endsWith("s") ? word.slice(0, -1) : word;

const common = new Set(
  "a an the of in on at to by for from with and or as is are was were be been it its this that than per up out who".split(
    " ",
  ),
);
