/**
 * Runs several mutations in one transaction, one after the other: all of them commit together, or none.
 * Next hop: `invoke.ts`.
 */

import type { Caller } from "../contract/caller.ts";
import type { CrudStatement } from "../contract/crud.ts";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import { noteIgnored } from "../crud/ignored-input.ts";
import { locateInvalidColumns } from "../crud/locate-invalid-columns.ts";
import { maxRetries } from "../crud/statement.ts";
import { encodeJsonText, encodeResult, withMembers } from "../http/wire.ts";
import { atIndex, SvcError } from "../kit/svc-error.ts";
import { isOutdated, isTransient } from "../postgres/errors.ts";
import { identityOf } from "../postgres/identity.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { callEach, type EachCall } from "./call-each.ts";
import type { CallContext } from "./create-context.ts";
import { missingRow } from "./hints.ts";
import {
  admit,
  behindGate,
  checkOutput,
  inTransaction,
  invokeWithin,
  isGenerated,
  type Runtime,
  runRefusable,
} from "./invoke.ts";
import { type Answers, runOnce } from "./keyed-calls.ts";

/** A mutation of a batch that may be called, with its arguments. */
export interface BatchCall {
  procedure: ProcedureDefinition;
  input: unknown;
}

/**
 * @param key idempotency key of the batch. (Default: none)
 * @returns the results in the order of the calls, each encoded as the body of its own answer
 * @throws SvcError with `index`, the place of the call that failed; without it if COMMIT failed
 */
export async function invokeBatch(
  runtime: Runtime,
  calls: readonly BatchCall[],
  caller: Caller,
  key?: string,
): Promise<Answers> {
  let index = -1;
  try {
    return await inKeyedTransaction(runtime, calls, caller, key, async (transaction, context) => {
      const results: string[] = [];
      while (results.length < calls.length) {
        index = results.length;
        const together = plainCalls(calls.slice(index));
        if (together.length === 0) {
          results.push(await runWithin(runtime, transaction, context, calls[index] as BatchCall));
          continue;
        }
        const sent =
          (await callAtOnce(transaction, caller, together)) ??
          // Sent without waiting for each other: PostgreSQL runs them one after the other, and none after one that fails.
          (await Promise.allSettled(
            together.map(({ procedure, input }) => invokeWithin(transaction, context, procedure, input, runtime)),
          ));
        for (const [place, outcome] of sent.entries()) {
          index = results.length;
          if (outcome.status === "rejected") throw outcome.reason;
          results.push(encode(runtime, together[place] as PlainCall, outcome.value));
        }
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

/**
 * Runs one mutation in a transaction that keeps its answer.
 *
 * @throws as `invoke`; CONFLICT if the key was used for another call
 */
export async function invokeKeyed(runtime: Runtime, call: BatchCall, caller: Caller, key: string): Promise<Answers> {
  try {
    return await inKeyedTransaction(runtime, [call], caller, key, async (transaction, context) => [
      await runWithin(runtime, transaction, context, call),
    ]);
  } catch (error) {
    throw await locate(runtime, call, caller, error);
  }
}

/** Generated calls are tried again as without a transaction (`callStatement`): it was rolled back, and no code of the application ran. */
async function inKeyedTransaction(
  runtime: Runtime,
  calls: readonly BatchCall[],
  caller: Caller,
  key: string | undefined,
  run: (transaction: RequestTransaction, context: CallContext) => Promise<string[]>,
): Promise<Answers> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await inTransaction(runtime, caller, "write", async (transaction, context) => {
        const results = () => run(transaction, context);
        return key === undefined
          ? { results: await results(), replayed: false }
          : runOnce(transaction, key, calls, results);
      });
    } catch (error) {
      const { cause } = error as SvcError;
      const isAgain = attempt < maxRetries && calls.every(isPlain) && (isTransient(cause) || isOutdated(cause));
      if (!isAgain) throw error;
    }
  }
}

/** A generated mutation without a hook: one statement. */
type PlainCall = BatchCall & { procedure: ProcedureDefinition & { statement: CrudStatement } };

const isPlain = (call: BatchCall): call is PlainCall => isGenerated(call.procedure) && !call.procedure.statement.before;

/** Those that the calls begin with. */
function plainCalls(calls: readonly BatchCall[]): PlainCall[] {
  const end = calls.findIndex((call) => !isPlain(call));
  return (end === -1 ? calls : calls.slice(0, end)) as PlainCall[];
}

/** @returns null where calls have to run one by one: to find the one that fails, or because there is nothing to gain */
async function callAtOnce(
  transaction: RequestTransaction,
  caller: Caller,
  calls: readonly PlainCall[],
): Promise<PromiseSettledResult<string>[] | null> {
  const isRun = calls.some(({ procedure }, index) => procedure === calls[index + 1]?.procedure);
  if (!isRun || !calls.every(({ procedure }) => procedure.statement.each)) return null;
  let checked: EachCall[];
  try {
    for (const { procedure } of calls) admit(caller.session, procedure);
    checked = calls.map(({ procedure: { statement }, input }) => ({ statement, values: statement.values(input) }));
  } catch {
    return null;
  }
  const results = await callEach(transaction, checked);
  return (
    results?.map((value) =>
      value === null ? { status: "rejected", reason: missingRow() } : { status: "fulfilled", value },
    ) ?? null
  );
}

function encode(runtime: Runtime, { procedure, input }: PlainCall, json: string): string {
  const body = encodeJsonText(json);
  const notice = runtime.production ? undefined : noteIgnored(runtime.log, procedure, input);
  return notice ? withMembers(body, { notice }) : body;
}

/** Runs a procedure in an open transaction. @returns its result, encoded as the body of its answer */
export async function runWithin(
  runtime: Runtime,
  transaction: RequestTransaction,
  context: CallContext,
  { procedure, input }: BatchCall,
): Promise<string> {
  if (isGenerated(procedure)) {
    const json = await invokeWithin(transaction, context, procedure, input, runtime);
    return encode(runtime, { procedure, input }, json);
  }
  admit(context.auth.getSession(), procedure);
  return behindGate(runtime, procedure.anonymous ? procedure.definedAt : undefined, context, async (seen) => {
    const result = await runRefusable(procedure, { context: seen, input, outcome: {} });
    await transaction.nested?.settle();
    return encodeResult(await checkOutput(procedure.output, result));
  });
}

/** Finds the columns of a generated write whose values only PostgreSQL can check. */
function locate({ requestPool }: Runtime, { procedure, input }: BatchCall, caller: Caller, error: unknown) {
  const values = () => procedure.statement?.values(input) ?? [];
  return locateInvalidColumns(requestPool, identityOf(caller), procedure, values, error);
}
