/**
 * How much of a claim some sentences of a section hold together, in the same words or in words like them.
 * Next hop: `likeness.ts`.
 */
import { piecesOf, wordsOf } from "../text/words.ts";
import { acronymsOf } from "./acronyms.ts";
import { formsAmong, longClaim } from "./likeness.ts";

/** What SQL found out about a sentence. */
export interface Covering {
  sentence: string;
  /** Share of the claim's weight in the sentence. */
  coverage: number;
  /** The claim's lexemes in the sentence. */
  matched: string[];
  /** The claim's other lexemes. */
  missing: string[];
}

const rounds = 25;

/**
 * The share that each lexeme has in the claim's weight. SQL returns only sums of weights, the coverages of sentences:
 * this scales equal weights until they add up to these sums (iterative proportional fitting).
 */
export function weightsOf(rows: Covering[]): Map<string, number> {
  const lexemes = [...new Set(rows.flatMap(({ matched, missing }) => [...matched, ...missing]))];
  const weights = new Map(lexemes.map((lexeme) => [lexeme, 1 / lexemes.length]));
  const sets = rows.map(({ coverage, matched }) => ({ coverage: Math.min(1, coverage), matched: new Set(matched) }));
  for (let round = 0; round < rounds; round += 1)
    for (const { coverage, matched } of sets) {
      let held = 0;
      for (const lexeme of matched) held += weights.get(lexeme) ?? 0;
      for (const [lexeme, weight] of weights) {
        const scale = matched.has(lexeme) ? ratio(coverage, held) : ratio(1 - coverage, 1 - held);
        weights.set(lexeme, weight * scale);
      }
    }
  return weights;
}

const ratio = (wanted: number, given: number) => (given > 1e-9 ? wanted / given : 1);

/** The share of the claim's weight that the sentences hold together, 0 to 1. */
export function coverageOf(claim: string, weights: Map<string, number>, rows: Covering[]): number {
  const matched = new Set(rows.flatMap((row) => row.matched));
  const lexemes = [...weights.keys()];
  const formOf =
    lexemes.length > longClaim ? () => 0 : formsAmong(rows.flatMap(({ sentence }) => piecesOf(wordsOf(sentence))));
  const simple = lexemes.filter((lexeme) => !isCompoundOf(lexeme, lexemes));
  const held = new Map(simple.map((lexeme) => [lexeme, matched.has(lexeme) ? 1 : formOf(lexeme)]));
  for (const { acronym, words } of acronymsOf(claim)) shareBetween(acronym.toLowerCase(), words, held);
  let [sum, total] = [0, 0];
  for (const lexeme of simple) {
    const weight = weights.get(lexeme) ?? 0;
    sum += weight * (held.get(lexeme) ?? 0);
    total += weight;
  }
  return total === 0 ? 0 : sum / total;
}

/** PostgreSQL returns a compound beside its parts; the parts suffice. */
const isCompoundOf = (lexeme: string, lexemes: string[]) =>
  lexeme.includes("-") &&
  lexeme
    .split("-")
    .filter(Boolean)
    .some((part) => lexemes.some((other) => other !== lexeme && areForms(other, part)));

const areForms = (stem: string, word: string) => word.startsWith(stem) || stem.startsWith(word.slice(0, 4));

/** An acronym stands for its words, and its words for the acronym. */
function shareBetween(acronym: string, written: string[], held: Map<string, number>): void {
  const lexemeOf = (word: string) =>
    [...held.keys()].find((stem) => word.startsWith(stem.slice(0, Math.max(4, stem.length - 2))));
  const short = lexemeOf(acronym);
  const long = written.flatMap((word) => lexemeOf(word) ?? []);
  if (short === undefined || long.length === 0) return;
  const whole = long.reduce((sum, lexeme) => sum + (held.get(lexeme) ?? 0), 0) / long.length;
  const alone = held.get(short) ?? 0;
  held.set(short, Math.max(whole, alone));
  if (alone > whole) for (const lexeme of long) held.set(lexeme, Math.max(alone, held.get(lexeme) ?? 0));
}
