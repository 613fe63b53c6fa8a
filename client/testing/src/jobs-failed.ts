/** The error of `flushJobs`. A failed job is otherwise only logged, and a test must not miss it. */
import type { Failure } from "@svc/core/internal";

/** Its `errors` are those of jobs and workflow runs, in the order of their occurrence. */
export class JobsFailed extends AggregateError {
  override readonly name = "JobsFailed";
  readonly failures: readonly Failure[];

  constructor(failures: readonly Failure[]) {
    const lines = failures.map(({ name, error }) => `  ${name}: ${error.message}`);
    super(
      failures.map(({ error }) => error),
      `${failures.length} of the jobs failed:\n${lines.join("\n")}`,
      { cause: failures[0]?.error },
    );
    this.failures = failures;
  }
}
