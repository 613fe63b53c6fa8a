/**
 * Names and numbers of a claim. Unlike other words they cannot be paraphrased, so a claim is supported only if the
 * passage has all of them.
 * Next hop: `answer.ts`.
 */
import { isNumber, wordsOf } from "../text/words.ts";
import { acronymsOf } from "./acronyms.ts";

/**
 * @param passage chunks with their headings and the title of their source
 * @returns whether it has every number of the claim, and every word with a capital inside a sentence
 */
export function holdsSpecifics(claim: string, passage: string): boolean {
  const words = new Set(wordsOf(passage).flatMap((word) => [word, ...word.split("-"), word.replace(/'s$/, "")]));
  return specificsOf(claim).every((word) => words.has(word) || words.has(word.replace(/'?s$/, "")));
}

function specificsOf(claim: string): string[] {
  // One space each: to look behind a long run of them at each of its places takes the square of its length.
  const text = withoutAcronyms(claim).replaceAll(/\s+/g, " ");
  const names = text.matchAll(/(?<![.!?:] )(?<= )["'(]?(\p{Lu}[\p{L}\p{N}]*)/gu);
  return [...wordsOf(claim).filter(isNumber), ...[...names].map(([, name]) => (name as string).toLowerCase())];
}

/** Without the acronyms in brackets of words that the claim itself has. */
const withoutAcronyms = (claim: string) =>
  acronymsOf(claim).reduce((text, { acronym }) => text.replace(`(${acronym})`, " "), claim);
