/**
 * Runs a procedure or a route: identity → context → middleware, input, handler → output check → encoding → COMMIT. An
 * error before COMMIT rolls everything back. Callers are `src/server/procedures.ts` and `src/server/routes.ts`,
 * and `run-internal.ts` for work without a request.
 * Next hop: `src/crud/statement.ts` for generated CRUD, `src/postgres/transaction.ts` for everything else.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { QueryConfig } from "pg";
import { Gate } from "../audit/gate.ts";
import type { Caller } from "../contract/caller.ts";
import type { Context } from "../contract/context.ts";
import type { CrudStatement } from "../contract/crud.ts";
import type { DefinedAt } from "../contract/defined-at.ts";
import { type Call, validate } from "../contract/middleware.ts";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import type { SvcRequest } from "../contract/request.ts";
import { type Callable, requireOneOf, scopesOf } from "../contract/scopes.ts";
import { HookMistake } from "../crud/crud-hooks.ts";
import { locateInvalidColumns } from "../crud/locate-invalid-columns.ts";
import { callPrepared } from "../crud/prepared-read.ts";
import { callStatement, callWithin } from "../crud/statement.ts";
import { misuseError } from "../kit/misuse-error.ts";
import type { Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Access } from "../postgres/access.ts";
import { withGate } from "../postgres/anonymous-gate.ts";
import { sqlState } from "../postgres/errors.ts";
import { identityOf } from "../postgres/identity.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { whereToLook } from "../postgres/where-to-look.ts";
import type { Seen } from "../realtime/followed-reads.ts";
import type { RunRuntime } from "../workflows/run-port.ts";
import { CallContext, type ContextServices, transactionFor } from "./create-context.ts";
import { besides, explanation, missingRow } from "./hints.ts";
import { nothingRead, seenBy } from "./seen-by.ts";

/** The services that a process needs to run calls. */
export type Runtime = ContextServices & Pick<RunRuntime, "documents" | "showCause">;

/** A call prepared by a transport. */
export interface Invocation<T> {
  caller: Caller;
  access: Access;
  anonymous: boolean;
  /** With which an API key may run it; null if its scopes were asked for before. (Default: only "*" may) */
  scope?: string | null | undefined;
  /** Set if the definition is anonymous: `unsafeDb` and raw SQL then need its allow comment. */
  definedAt?: DefinedAt | undefined;
  input: unknown;
  request?: SvcRequest;
  run: ProcedureDefinition["run"];
  /** Checks the result and encodes it for the wire; an error here still rolls the call back. */
  encode(result: unknown): T | Promise<T>;
  /** More statements of the platform in the same transaction, behind the handler. */
  also?(transaction: RequestTransaction, encoded: T): Promise<void>;
  /** Called with what the result was read from. */
  watched?(seen: Seen): void;
  /** Whether `watched` needs to know what read with its owner's rights also in production. (Default: only while developing) */
  asksBypassing?: boolean;
  /** Whether an encoded result means failure, so that the call must be rolled back. (Default: never) */
  undo?(encoded: T): boolean;
}

/** @throws SvcError UNAUTHORIZED without a session, FORBIDDEN for an API key without the scope */
export function admit(session: Session | null, definition: Callable): void {
  if (!session && !definition.anonymous) throw new SvcError("UNAUTHORIZED");
  if (session?.key) requireOneOf(session.key, scopesOf(definition));
}

/** What a resource gives to callers with a session, others do not get by including it. */
export function requireSessionOf(statement: CrudStatement, input: unknown, session: Session | null): void {
  const closed = session ? undefined : statement.closed?.(input);
  if (closed === undefined) return;
  throw new SvcError("UNAUTHORIZED", `Rows of the relation "${closed}" are for signed-in callers.`, {
    hint: "Sign in, or leave the relation out. The author can set allowAnonymous on the createCrud of its table.",
  });
}

/**
 * Runs one call in one transaction.
 *
 * @throws SvcError that the caller may see, or INTERNAL with the original error as `cause`, for the log
 */
export async function invoke<T>(runtime: Runtime, invocation: Invocation<T>): Promise<T> {
  const { caller, access, input, request } = invocation;
  admit(caller.session, invocation);
  const work = async (transaction: RequestTransaction, context: CallContext) => {
    const call: Call = { context, input, outcome: {}, ...(request && { request }) };
    if (invocation.asksBypassing || (invocation.watched && !runtime.production)) CallContext.keepTexts(context);
    const encoded = await invocation.encode(await runRefusable(invocation, call));
    await invocation.also?.(transaction, encoded);
    invocation.watched?.(await seenBy(transaction, context));
    if (invocation.undo?.(encoded)) await transaction.rollback();
    return encoded;
  };
  return inTransaction(runtime, caller, access, work, invocation.definedAt);
}

/**
 * Opens the transaction, runs `work` in it, and commits unless it threw or asked for a rollback.
 *
 * @param definedAt of the anonymous definition whose code `work` runs. (Default: it is not anonymous)
 * @param last as in `RequestTransaction.commit`
 * @throws as `invoke`
 */
export async function inTransaction<T>(
  runtime: Runtime,
  caller: Caller,
  access: Access,
  work: (transaction: RequestTransaction, context: CallContext) => Promise<T>,
  definedAt?: DefinedAt,
  last?: QueryConfig,
): Promise<T> {
  const transaction = transactionFor(runtime, caller, access);
  const context = new CallContext(runtime, caller, transaction, access);
  let isCommitting = false;
  try {
    const result = await CallContext.within(context, () =>
      behindGate(runtime, definedAt, context, (seen) => work(transaction, seen)),
    );
    const rest = await CallContext.tell(context, last);
    const isUndone = transaction.isOver;
    isCommitting = true;
    await transaction.commit(rest);
    await CallContext.ended(context, isUndone ? "rolledBack" : "committed");
    return result;
  } catch (error) {
    await transaction.rollback();
    // A failed COMMIT may have been carried out, so nothing may be deleted.
    if (!isCommitting) await CallContext.ended(context, "rolledBack");
    if (error instanceof SvcError) throw error;
    const explained = transaction.explain(error);
    // Express interprets some values: an error's `status`, the string "route".
    if (!(explained instanceof SvcError)) {
      const hint = !runtime.production && sqlState(explained) ? besides : undefined;
      throw new SvcError("INTERNAL", undefined, { cause: explained, hint });
    }
    throw runtime.production ? explained : whereToLook(explained, caller.session?.user.id ?? null);
  }
}

/**
 * Runs code of an anonymous definition behind its gate; code of others outside of the gate of another call.
 *
 * @param context what the code gets; undefined for code without one
 * @throws SvcError ANONYMOUS_BLOCKED also where the code has caught what the gate refused
 */
export async function behindGate<T, C extends Context | undefined>(
  { root, production }: Pick<Runtime, "root" | "production">,
  definedAt: DefinedAt | undefined,
  context: C,
  work: (context: C) => T | Promise<T>,
): Promise<T> {
  if (!definedAt) return withGate(undefined, () => work(context));
  const gate = new Gate(definedAt, root, production);
  try {
    const result = await withGate(gate, () => work(context && CallContext.behind(context, gate)));
    if (!gate.refusal) return result;
  } catch (error) {
    if (!gate.refusal) throw error;
  }
  throw gate.refusal;
}

/** Invalid input decides the outcome alone: middleware before `.input()` can read the 400 but not replace it. */
export async function runRefusable(invocation: Pick<Invocation<unknown>, "run">, call: Call): Promise<unknown> {
  try {
    const result = await invocation.run(call);
    if (!call.outcome.refusal) return result;
  } catch (error) {
    if (!call.outcome.refusal) throw error;
  }
  throw call.outcome.refusal;
}

/** Whether one SQL statement answers the procedure: a generated operation. */
export const isGenerated = (
  procedure: ProcedureDefinition,
): procedure is ProcedureDefinition & { statement: CrudStatement } => procedure.statement !== undefined;

/**
 * Answers a generated procedure by its SQL function.
 *
 * @param watched called with what the answer was read from
 * @returns JSON text, as PostgreSQL wrote it
 */
export async function invokeStatement(
  runtime: Runtime,
  procedure: ProcedureDefinition & { statement: CrudStatement },
  input: unknown,
  caller: Caller,
  watched?: Invocation<unknown>["watched"],
): Promise<string> {
  admit(caller.session, procedure);
  const { statement } = procedure;
  requireSessionOf(statement, input, caller.session);
  const { requestPool: pool } = runtime;
  const identity = identityOf(caller);
  const seen =
    watched &&
    ((snapshot: string | null, tables: string[]) => watched({ snapshot, reads: { ...nothingRead, tables } }));
  const called = statement.before
    ? callHooked(runtime, procedure, input, caller)
    : callGenerated(pool, identity, statement, statement.values(input), procedure.kind === "query", seen);
  const json = await called.catch(async (error) => {
    const named = await locateInvalidColumns(pool, identity, procedure, () => statement.values(input), error);
    throw runtime.production || statement.before ? named : whereToLook(named, caller.session?.user.id ?? null);
  });
  if (json !== null) return json;
  if (statement.absent === "null") return "null";
  const hint = runtime.production ? undefined : explanation(procedure, caller, input);
  throw missingRow(hint, procedure.kind === "query" ? "see" : "change");
}

function callGenerated(...[pool, identity, statement, values, reads, seen]: Parameters<typeof callStatement>) {
  const shape = statement.shape?.(values);
  const call = () => callStatement(pool, identity, statement, values, reads, seen);
  return shape ? callPrepared(pool, identity, shape, call, seen) : call();
}

/**
 * Runs a generated mutation in an open transaction, for a transport that combines several in one request.
 *
 * @returns JSON text, as PostgreSQL wrote it
 * @throws as `invokeStatement`; database errors as the driver threw them
 */
export async function invokeWithin(
  transaction: RequestTransaction,
  context: Context,
  procedure: ProcedureDefinition & { statement: CrudStatement },
  input: unknown,
  runtime: Pick<Runtime, "root" | "production">,
): Promise<string> {
  const session = context.auth.getSession();
  admit(session, procedure);
  const { statement, definedAt } = procedure;
  requireSessionOf(statement, input, session);
  const change = (seen: Context) => hooked(transaction, statement, input, seen, runtime.production);
  // Without a hook nothing is awaited before the statement is sent: a batch sends several in their order.
  const changed = statement.before ? await behindGate(runtime, definedAt, context, change) : input;
  const json = await callWithin(transaction, statement, statement.values(changed));
  if (json === null) throw missingRow();
  return json;
}

/** With a hook, application code runs between BEGIN and the statement: its writes commit or roll back with the row. */
function callHooked(
  runtime: Runtime,
  { statement, definedAt }: ProcedureDefinition & { statement: CrudStatement },
  input: unknown,
  caller: Caller,
): Promise<string | null> {
  const work = async (transaction: RequestTransaction, context: CallContext) => {
    const changed = await hooked(transaction, statement, input, context, runtime.production);
    const json = await callWithin(transaction, statement, statement.values(changed));
    if (json === null) await transaction.rollback();
    return json;
  };
  return inTransaction(runtime, caller, "write", work, definedAt);
}

/** The input as the application's hook returns it. @throws SvcError INTERNAL for an invalid return value */
async function hooked(
  transaction: RequestTransaction,
  statement: CrudStatement,
  input: unknown,
  context: Context,
  production: boolean,
) {
  if (!statement.before) return input;
  try {
    const changed = await statement.before(input, context, (values) => callWithin(transaction, statement, values));
    await transaction.nested?.settle();
    return changed;
  } catch (error) {
    throw error instanceof HookMistake ? misuseError(error.hook, error.message, production) : error;
  }
}

/**
 * Checks a result against its declared schema.
 *
 * @returns the schema's output value
 * @throws SvcError OUTPUT_INVALID; only the log has the details, since the result may hold private data
 */
export async function checkOutput(schema: StandardSchemaV1 | undefined, result: unknown): Promise<unknown> {
  if (!schema) return result;
  const checked = await validate(schema, result);
  if (!checked.issues) return checked.value;
  // Paths only, no messages: those of some vendors quote the value.
  const wrong = checked.issues.map(({ path }) => path.join(".") || "(the whole result)").join(", ");
  throw new SvcError("OUTPUT_INVALID", undefined, {
    cause: new Error(`The result does not match .output() at: ${wrong}`),
  });
}
