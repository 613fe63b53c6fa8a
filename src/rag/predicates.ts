/**
 * What a claim says of its subjects. A text that merely has "rain" and "traffic" does not say that one is because of the other.
 * Next hop: `opposites.ts`.
 */
import { isCommon, isUnspaced, piecesOf, wordsOf } from "../text/words.ts";
import { denies } from "./denials.ts";
import { formsAmong } from "./likeness.ts";
import { directionOf, haveSameDirection } from "./opposites.ts";

/** A claim with at most so many words needs all of them; of a longer one, words that merely describe may be missing. */
const shortClaim = 4;

/** Words for the same relation, most of which search ignores. */
const relations = [
  "because due owing cause causes caused causing lead leads led leading result results resulted resulting therefore hence thus thanks consequence consequently reason reasons attributable",
  "before prior earlier precede precedes preceded until",
  "after afterwards later following follow follows followed",
  "if unless when whenever provided otherwise",
  "than compared versus vs exceed exceeds exceeded outperform outperforms outperformed surpass surpasses surpassed",
  "only solely exclusively except unless nothing nobody none",
  "associated association associations related relation relationship relates linked link links correlated correlates correlation connected connection tied",
].map((words) => new Set(words.split(" ")));

/**
 * Whether a sentence has the claim's predicate: its relations, a word of its direction, and, if the claim is short, all of
 * its words.
 */
export function holdsPredicate(claim: string, sentence: string): boolean {
  const [ours, theirs] = [piecesOf(wordsOf(claim)), piecesOf(wordsOf(sentence))];
  const has = formsAmong(theirs);
  const holds = (word: string) => has(stemOf(word)) > 0 || theirs.some((other) => areKin(word, other));

  const isRelated = relations.every((words) => !ours.some(isIn(words)) || theirs.some(isIn(words)));
  const directed = ours.filter((word) => directionOf(word) !== 0);
  const isDirected = directed.length === 0 || directed.some(holds);
  const words = ours.filter((word) => !isCommon(word) && !isUnspaced(word) && !denies(word));
  return isRelated && isDirected && (words.length > shortClaim || words.every(holds));
}

const isIn = (words: Set<string>) => (word: string) => words.has(word);

/** Whether two words can say the same of a subject: by their direction, or as words for one relation. */
const areKin = (word: string, other: string) =>
  haveSameDirection(word, other) || relations.some((words) => words.has(word) && words.has(other));

/** Without an ending, roughly: derivations share most of their letters. */
const stemOf = (word: string) => word.slice(0, Math.max(5, Math.ceil(word.length * 0.7)));
