/** Runs an internal procedure, for the scheduler, crons and workflows. Next hop: `invoke.ts`. */
import type { QueryConfig } from "pg";
import type { Caller } from "../contract/caller.ts";
import type { Call } from "../contract/middleware.ts";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import type { SvcError } from "../kit/svc-error.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import type { CallContext } from "./create-context.ts";
import { checkOutput, inTransaction, type Runtime, runRefusable } from "./invoke.ts";

/**
 * Runs it in one transaction. The permission was checked when the job was enqueued, so no session is required.
 *
 * @param caller the identity; `.runAs("system")` of the procedure overrides it
 * @param last the last statement before COMMIT, such as the end of the job. (Default: none)
 * @throws as `invoke`; InputRefused for an input that can never be valid
 */
export async function runInternal(
  runtime: Runtime,
  procedure: ProcedureDefinition,
  input: unknown,
  caller: Caller,
  last?: QueryConfig,
): Promise<unknown> {
  const actual = procedure.runAs === "system" ? { ...caller, session: null, system: true } : caller;
  const outcome: Call["outcome"] = {};
  const work = async (_: RequestTransaction, context: CallContext) =>
    checkOutput(procedure.output, await runRefusable(procedure, { context, input, outcome }));
  return inTransaction(runtime, actual, "write", work, undefined, last).catch((error) => {
    throw outcome.refusal ? new InputRefused(procedure.name, outcome.refusal) : error;
  });
}

/** The input of an internal procedure does not match its `.input()`. A retry would not help. */
export class InputRefused extends Error {
  constructor(procedure: string, { issues = [] }: SvcError) {
    // Paths only, no messages, as in checkOutput.
    const wrong = issues.map(({ path }) => path.join(".") || "(all of it)").join(", ");
    super(`.input() of "${procedure}" refuses the job's arguments at: ${wrong}. Accept them too, then svc jobs retry.`);
    this.name = "InputRefused";
  }
}
