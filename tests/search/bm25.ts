/** BM25 by its definition, over all rows, without an index or shortcuts: the reference for searches. */

/**
 * @param texts by row; their words and those of the query must be their own stems
 * @param weighed by row, the text whose words are counted: a word that is repeated counts more. (Default: as `texts`)
 * @returns scores of the rows that match
 */
export function bm25<Key>(
  texts: ReadonlyMap<Key, string>,
  query: readonly string[],
  weighed = texts,
): Map<Key, number> {
  const words = [...texts].map(([key, text]) => [key, text.split(" ").filter((word) => word !== "")] as const);
  const average = Math.max(words.reduce((sum, [, text]) => sum + text.length, 0) / Math.max(words.length, 1), 1);
  const scores = new Map<Key, number>();
  for (const term of query) {
    const holding = words.filter(([, text]) => text.includes(term)).length;
    const weight = Math.log(1 + (words.length - holding + 0.5) / (holding + 0.5));
    for (const [key, text] of words) {
      const tf = (weighed.get(key) ?? "").split(" ").filter((word) => word === term).length;
      if (tf === 0) continue;
      const score = (weight * tf) / (tf + 1.2 * (0.25 + (0.75 * text.length) / average));
      scores.set(key, (scores.get(key) ?? 0) + score);
    }
  }
  return scores;
}
