/**
 * drizzle-kit's comparison of schemas, for `svc migrate generate`. The published package contains drizzle-kit's one file
 * for it, without drizzle-kit's dependencies (esbuild twice and tsx, 42 MB), which only its own command line needs.
 * PostgreSQL's programs are this package's optional dependencies; src/cluster/embedded.ts finds them.
 */
import * as kit from "drizzle-kit/api";

/** @returns a snapshot of the exported tables, views and enums, as the core's `Snapshot` describes it */
export const generateDrizzleJson = kit.generateDrizzleJson as (
  exported: Record<string, unknown>,
  previousId?: string,
) => unknown;

/** @returns the statements between two snapshots */
export const generateMigration = kit.generateMigration as unknown as (from: unknown, to: unknown) => Promise<string[]>;
