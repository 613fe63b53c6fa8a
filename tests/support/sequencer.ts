/**
 * The order of test files: those that take long begin first, so that no core waits for the other at the end of the run.
 * Vitest would know it from an earlier run, which a fresh clone has not had.
 */
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Those of more than ten seconds on two calm cores, the longest first. */
const long = [
  "packages/publish",
  "browser/desk",
  "postgres/cluster",
  "documents/corpus",
  "search/ranking",
  "cli/mistakes",
  "auth/revocation-hearing",
  "codegen/schema-changes",
  "search/tenants.property",
  "cli/commands",
  "codegen/schema-access-changes",
  "sql/migrate",
  "rag/scifact",
  "browser/docs",
  "codegen/schema-random",
  "security/enumeration",
  "crud/injection",
  "cli/migrate-generate",
  "workers/crashes",
  "chaos/identity",
  "workflows/outages",
  "storage/upload-faults",
  "rag/file",
  "client/network",
  "realtime/convergence",
].map((name) => `tests/${name}.test.ts`);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = long.indexOf(relative(this.ctx.config.root, moduleId));
      return index < 0 ? long.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
