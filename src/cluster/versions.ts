/** The oldest supported versions, and how to compare versions. */

/** Earlier versions lack features that our SQL and the replication reader use. */
export const oldestMajor = 15;

/** Earlier versions lack half-precision vectors. */
export const oldestVector = "0.7";

/** Compares dotted versions number by number: 0.10 is newer than 0.7. */
export function isAtLeast(version: string, least: string): boolean {
  const [ours, theirs] = [numbers(version), numbers(least)];
  for (const [place, wanted] of theirs.entries()) {
    const difference = (ours[place] ?? 0) - wanted;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

function numbers(version: string): number[] {
  return version.split(".").map((part) => Number.parseInt(part, 10) || 0);
}
