/** Suggests known names for a mistyped one, for the hints of errors. */

/** @returns the known names, most similar first */
export const byNearness = (name: string, known: readonly string[]): string[] =>
  known.toSorted((a, b) => distance(name, a) - distance(name, b));

/** Whether a name is probably another one, misspelled. */
export const isNear = (name: string, other: string): boolean =>
  Math.abs(name.length - other.length) <= 2 && distance(name, other, 2) <= 2;

/** A hint for an unknown name: the known one that it resembles, or else a few that exist. */
export function didYouMean(name: string, known: readonly string[]): string {
  if (known.length === 0) return "None are defined.";
  const ordered = byNearness(name, known);
  if (isNear(name, ordered[0] ?? "")) return `Did you mean "${ordered[0]}"?`;
  const shown = ordered.slice(0, 5).map((one) => `"${one}"`);
  const more = ordered.length > 5 ? ` and ${ordered.length - 5} more` : "";
  return `There are: ${shown.join(", ")}${more}.`;
}

/** In UTF-16 units. The rest of a longer name is not compared: a caller may send megabytes where a name is expected. */
const compared = 256;

/** Levenshtein distance, ignoring letter case. @param most of a longer one is only said that it is longer (Default: no limit) */
function distance(from: string, to: string, most = Infinity): number {
  const [a, b] = [from.slice(0, compared).toLowerCase(), to.slice(0, compared).toLowerCase()];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, char] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const swap = (row[j] ?? 0) + (char === b[j] ? 0 : 1);
      next.push(Math.min(swap, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
    if (Math.min(...row) > most) break;
  }
  return row[b.length] ?? 0;
}
