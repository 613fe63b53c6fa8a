/**
 * Names and numbers of a claim. Unlike other words they cannot be paraphrased, so a claim is supported only if the
 * passage has all of them.
 * Next hop: `answer.ts`.
 */
import { isNumber, wordsOf } from "../text/words.ts";

/**
 * @param passage the chunk with its headings and the title of its source
 * @returns whether it has every number of the claim, and every word with a capital inside a sentence
 */
export function holdsSpecifics(claim: string, passage: string): boolean {
  const words = new Set(wordsOf(passage).flatMap((word) => [word, ...word.split("-"), word.replace(/'s$/, "")]));
  return specificsOf(claim).every((word) => words.has(word) || words.has(word.replace(/'?s$/, "")));
}

function specificsOf(claim: string): string[] {
  const names = claim.matchAll(/(?<![.!?:]\s+)(?<=\s)["'(]?(\p{Lu}[\p{L}\p{N}]*)/gu);
  return [...wordsOf(claim).filter(isNumber), ...[...names].map(([, name]) => (name as string).toLowerCase())];
}
