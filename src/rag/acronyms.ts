/** Acronyms in brackets, with the words before them that they stand for: "World Health Organization (WHO)". Next hop: none. */
import { piecesOf, wordsOf } from "../text/words.ts";

export function acronymsOf(claim: string): { acronym: string; words: string[] }[] {
  const before: string[] = [];
  let read = 0;
  return [...claim.matchAll(/\(([\p{L}\p{N}-]{2,8})\)/gu)].flatMap(({ 1: acronym = "", index }) => {
    // Each word is read once: a claim may consist of acronyms. No word continues across a bracket.
    before.push(...piecesOf(wordsOf(claim.slice(read, index))));
    read = index;
    const letters = acronym.toLowerCase().replaceAll(/\P{L}|s$/gu, "");
    for (let length = letters.length + 2; length >= Math.max(1, letters.length - 2); length -= 1) {
      const words = before.slice(-length);
      if (words.length === length && words[0]?.[0] === letters[0]) return [{ acronym, words }];
    }
    return [];
  });
}
