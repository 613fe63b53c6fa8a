/**
 * The order of test files: long ones begin first, so that no core idles at the end of the run. Vitest would know
 * durations from an earlier run, which a fresh clone lacks. The files of a project are neighbours, because a worker that
 * changes the project starts again. The small projects come first: at the end, the other cores would idle while their
 * workers start.
 */
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files of more than ten seconds on two idle cores, longest first. */
const long = [
  "packages/publish",
  "browser/desk",
  "postgres/cluster",
  "auth/revocation-hearing",
  "codegen/schema-changes",
  "documents/corpus",
  "chaos/identity",
  "rag/scifact",
  "browser/docs",
  "doors/doors",
  "cli/dev-beside",
  "cli/json",
  "studio/every-panel",
  "browser/desk-access",
  "studio/page",
  "cli/commands",
  "sql/migrate",
  "doors/writes",
  "doors/workflows",
  "codegen/schema-access-changes",
  "crud/injection",
  "security/command-output",
  "codegen/schema-random",
  "workers/crashes",
  "cli/fifteen-mistakes",
  "cli/processes",
  "cli/dev-failures",
  "search/ranking",
  "search/hybrid",
  "storage/drivers",
  "transfer/crash",
  "storage/route",
  "workflows/crashes",
  "http/batch-killed",
  "sql/list-plans",
  "testing/ask-docs",
].map((name) => `tests/${name}.test.ts`);

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification) => {
      if (project.name !== "svc") return -1;
      const index = long.indexOf(relative(this.ctx.config.root, moduleId));
      return index < 0 ? long.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
