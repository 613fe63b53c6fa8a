/**
 * How alike words are, by their groups of three characters. It finds inflections, derivations and parts of compounds
 * that a stemmer separates.
 * Next hop: none.
 */
import { isUnspaced } from "../text/words.ts";

/** The share of a stem's groups that a word must have to count as a form of it. */
const alike = 0.75;

/** A claim with more words than this is no statement; for the rest of its words only the words themselves count. */
export const longClaim = 60;

function gramsOf(text: string): Set<string> {
  const grams = new Set<string>();
  for (let at = 0; at + 3 <= text.length; at += 1) grams.add(text.slice(at, at + 3));
  return grams;
}

/** @returns how far one of the words is a form of a stem: 1 for the word itself, 0 if none is alike */
export function formsAmong(words: Iterable<string>): (stem: string) => number {
  const all = [...new Set(words)];
  const exact = new Set(all);
  const places = new Map<string, number[]>();
  for (const [place, word] of all.entries())
    for (const gram of gramsOf(` ${word} `)) {
      const known = places.get(gram);
      if (known) known.push(place);
      else places.set(gram, [place]);
    }

  return (stem) => {
    if (exact.has(stem)) return 1;
    if (isUnspaced(stem)) return 0; // two characters of a word are no stem
    const grams = gramsOf(` ${stem}`); // without its end: a word may continue
    const shared = new Map<number, number>();
    for (const gram of grams)
      for (const place of places.get(gram) ?? []) shared.set(place, (shared.get(place) ?? 0) + 1);
    const best = Math.max(0, ...shared.values()) / Math.max(1, grams.size);
    return best >= alike ? Math.min(best, 0.99) : 0;
  };
}

export const areAlike = (stem: string, word: string): boolean => formsAmong([word])(stem) > 0;
