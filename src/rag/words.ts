/**
 * The words and numbers of a sentence, in lower case, for the comparisons that stemming would blur.
 * Next hop: `conflicts.ts`.
 */

/** Words keep their apostrophes and hyphens, numbers lose the separators of thousands; `%` is a word. */
export const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replaceAll("’", "'")
    .replaceAll(/(?<=\d),(?=\d{3}(?!\d))/g, "")
    .replaceAll(/per ?cent\b/g, "%")
    .match(/\d+(?:[.,:]\d+)*(?![\p{L}\p{N}-])|[\p{L}\p{N}]+(?:['-][\p{L}\p{N}]+)*|%/gu) ?? [];

export const isNumber = (word: string | undefined) => word !== undefined && /^\d+(?:[.,:]\d+)*$/.test(word);
