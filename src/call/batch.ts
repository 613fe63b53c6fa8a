/**
 * Runs several mutations in one transaction, one after the other: all of them commit together, or none.
 * Next hop: `invoke.ts`.
 */
import type { ProcedureDefinition } from "../contract/procedure.ts";
import { noteIgnored } from "../crud/ignored-input.ts";
import { locateInvalidColumns } from "../crud/locate-invalid-columns.ts";
import { encodeJsonText, encodeResult, withMembers } from "../http/wire.ts";
import { atIndex, SvcError } from "../kit/svc-error.ts";
import { identityOf } from "../postgres/identity.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import type { Caller } from "./caller.ts";
import type { CallContext } from "./create-context.ts";
import {
  behindGate,
  checkOutput,
  inTransaction,
  invokeWithin,
  isGenerated,
  type Runtime,
  runRefusable,
} from "./invoke.ts";

/** A mutation of a batch that may be called, with its arguments. */
export interface BatchCall {
  procedure: ProcedureDefinition;
  input: unknown;
}

/**
 * @returns the results in the order of the calls, each encoded as the body of its own answer
 * @throws SvcError with `index`, the place of the call that failed; without it if COMMIT failed
 */
export async function invokeBatch(runtime: Runtime, calls: readonly BatchCall[], caller: Caller): Promise<string[]> {
  let index = -1;
  try {
    return await inTransaction(runtime, caller, "write", async (transaction, context) => {
      const results: string[] = [];
      for (const call of calls) {
        index = results.length;
        results.push(await run(runtime, transaction, context, call));
      }
      index = -1;
      return results;
    });
  } catch (error) {
    const call = calls[index];
    if (!call) throw error;
    const located = await locate(runtime, call, caller, error);
    throw located instanceof SvcError ? atIndex(index, located) : located;
  }
}

async function run(
  runtime: Runtime,
  transaction: RequestTransaction,
  context: CallContext,
  { procedure, input }: BatchCall,
): Promise<string> {
  if (isGenerated(procedure)) {
    const body = encodeJsonText(await invokeWithin(transaction, context, procedure, input, runtime));
    const notice = runtime.production ? undefined : noteIgnored(runtime.log, procedure, input);
    return notice ? withMembers(body, { notice }) : body;
  }
  const result = await behindGate(runtime, procedure.anonymous ? procedure.definedAt : undefined, context, (seen) =>
    runRefusable(procedure, { context: seen, input, outcome: {} }),
  );
  return encodeResult(await checkOutput(procedure.output, result));
}

/** Finds the columns of a generated write whose values only PostgreSQL can check. */
function locate({ requestPool }: Runtime, { procedure, input }: BatchCall, caller: Caller, error: unknown) {
  const values = () => procedure.statement?.values(input) ?? [];
  return locateInvalidColumns(requestPool, identityOf(caller.session, caller.holder), procedure, values, error);
}
