/**
 * The words and numbers of a sentence in lower case, for comparisons in which stemming would lose too much.
 * Next hop: `src/rag/conflicts.ts`.
 */

const unspaced = String.raw`[\p{sc=Hangul}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]`;

/** Scripts that attach units and particles to numbers and words, or write without spaces. */
export const isUnspaced = (word: string) => startsUnspaced.test(word);
const startsUnspaced = new RegExp(`^${unspaced}`, "u");

const word = new RegExp(
  String.raw`\d+(?:[.,:]\d+)*(?=${unspaced}|(?![\p{L}\p{N}-]))|[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+)*|%`,
  "gu",
);

/** Words keep apostrophes and hyphens, numbers lose thousands separators; `%` is a word. */
export const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replaceAll("’", "'")
    .replaceAll(/(?<=\d),(?=\d{3}(?!\d))/g, "")
    .replaceAll(/per ?cent\b/g, "%")
    .match(word) ?? [];

/** The words with compounds cut at their hyphens; `non-` stays with its word. */
export const piecesOf = (words: string[]): string[] =>
  words.flatMap((one) => (one.includes("-") && !one.startsWith("non-") ? one.split("-") : [one]));

export const isNumber = (word: string | undefined) => word !== undefined && /^\d+(?:[.,:]\d+)*$/.test(word);

const common = new Set(
  (
    "a an the of in on at to by for from with and or as is are was were be been being it its this that than per up out " +
    "who which these those we our has have had do does did can may might could also between both into during after " +
    "before their there here such"
  ).split(" "),
);

/** Whether an English word says nothing alone. */
export const isCommon = (word: string) => common.has(word);
