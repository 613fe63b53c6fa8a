/** The oldest supported versions, and how to compare versions. */

/** Earlier versions lack features that our SQL and the replication reader use. */
export const oldestMajor = 15;

/** Earlier versions lack half-precision vectors. */
export const oldestVector = "0.7";

/** Compares numbers as numbers: 0.10 is newer than 0.7. */
export const isAtLeast = (version: string, least: string): boolean =>
  version.localeCompare(least, "en", { numeric: true }) >= 0;
