/**
 * The one map from PostgreSQL's error codes to ours. Messages are our own: PostgreSQL's contain names of constraints and values
 * of rows, which are only logged. Messages of AP… were written for callers, by the application or for organizations
 * (`sql/organizations/`). `src/kit/error-codes.ts` has the HTTP status of each code.
 * Source: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */

import pg from "pg";
import { causesOf } from "../kit/causes.ts";
import { type ErrorCode, errorCodes } from "../kit/error-codes.ts";
import { jsonIn } from "../kit/json-in.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Access } from "./access.ts";
import { type Identity, identityOfUser, isAnonymous } from "./identity.ts";
import { readOnlyState } from "./read-only.ts";
import { isRowTooLarge } from "./row-size.ts";

interface Mapping {
  code: ErrorCode;
  message?: string;
  hint?: string;
  /** Whether the caller gets the message and the hint of the application's error. */
  spoken?: true;
}

const badValue: Mapping = { code: "BAD_REQUEST", message: "A value does not fit its type or column." };
const busy: Mapping = { code: "UNAVAILABLE" };

/**
 * By SQLSTATE. Functions of the platform in `sql/` raise SV…; functions of applications, and those of organizations, raise AP…,
 * because a worker that gets SV409 assumes that another worker has its job.
 */
export const sqlStates: Record<string, Mapping> = {
  "22001": { code: "BAD_REQUEST", message: "A text is longer than its column allows." },
  "22003": { code: "BAD_REQUEST", message: "A number is out of range." },
  "22007": badValue,
  "22008": badValue,
  "22012": { code: "INTERNAL" }, // a division by zero is the application's error, not its caller's
  "22021": { code: "BAD_REQUEST", message: "A text holds a character that cannot be stored, such as NUL." },
  "22023": badValue,
  "22P02": badValue,
  "22P05": { code: "BAD_REQUEST", message: "A text holds a character that cannot be stored, such as NUL." },
  "23502": { code: "BAD_REQUEST", message: "A required value is missing." },
  "23503": { code: "CONFLICT", message: "This refers to something that does not exist, or that is still in use." },
  "23505": { code: "CONFLICT", message: "Something with these values already exists." },
  "23514": { code: "BAD_REQUEST", message: "A value breaks a rule of its table." },
  "23P01": { code: "CONFLICT", message: "This overlaps with something that already exists." },
  "25006": {
    code: "QUERY_WROTE",
    hint: "Queries and GET routes are read only. Make it a mutation, or a route with another verb.",
  },
  "25P03": {
    code: "TIMEOUT",
    hint: "The transaction was open without a statement for too long. Do slow work outside it, for example in a step of a workflow that does not use wf.db. A statement of unsafeDb waits for rows that this call has changed or locked: run it before.",
  },
  "25P04": { code: "TIMEOUT", hint: "The transaction was longer than PostgreSQL's transaction_timeout." },
  "40001": { code: "CONFLICT" },
  "40P01": { code: "CONFLICT" },
  "42501": { code: "FORBIDDEN" },
  "53100": { code: "UNAVAILABLE", message: "There is no room for this at the moment." },
  "53200": busy,
  "53300": busy,
  "53400": {
    code: "TIMEOUT",
    message: "This needs more room than this service allows.",
    hint: "The statement needs more temporary files than temp_file_limit. Ask for less, or add an index.",
  },
  "54000": { code: "BAD_REQUEST", message: "A value is larger than its column or its index can hold." },
  "55P03": { code: "CONFLICT" },
  "57014": { code: "TIMEOUT", hint: "The statement was cancelled. Ask for less, or add an index." },
  "57P01": busy,
  "57P02": busy,
  "57P03": busy,
  "57P05": busy,
  AP400: { code: "BAD_REQUEST", spoken: true },
  AP401: { code: "UNAUTHORIZED", spoken: true },
  AP403: { code: "FORBIDDEN", spoken: true },
  AP404: { code: "NOT_FOUND", spoken: true },
  AP409: { code: "CONFLICT", spoken: true },
  AP429: { code: "RATE_LIMITED", spoken: true },
  SV400: {
    code: "BAD_REQUEST",
    message: "This cursor does not belong to this list.",
    hint: "Pass a nextCursor of the same resource, order, filter, search and user. Start with cursor: null.",
  },
  SV402: { code: "CREDIT_LIMIT_EXCEEDED" },
  SV404: { code: "NOT_FOUND" },
  SV409: { code: "CONFLICT" },
  SV413: { code: "PAYLOAD_TOO_LARGE", message: "A message to subscribers is larger than 64 KiB." },
};

/**
 * Whether an error is the refusal of a unique constraint: of a statement in a handler, and in `.errors()` of a route.
 *
 * @param constraint its name, such as "articles_slug_unique". (Default: any)
 */
export function isConflict(error: unknown, constraint?: string): boolean {
  const refused = causesOf(error).find((one) => "constraint" in one && sqlState(one) === "23505");
  return refused !== undefined && (constraint === undefined || Object(refused).constraint === constraint);
}

/** By the class of a SQLSTATE (its first two characters), if the table above does not list the code. */
const classes: Record<string, Mapping> = { "08": busy, "22": badValue };

/**
 * Converts a driver error to one that the caller may see.
 *
 * @param identity of the statement: a refusal means UNAUTHORIZED for an anonymous caller, and FORBIDDEN for a user
 * @param access   of its transaction: in one that may write, only the server can have refused a write. (Default: read)
 */
export function databaseError(error: unknown, identity: Identity, access: Access = "read"): SvcError {
  if (error instanceof SvcError) return error;
  const state = sqlState(error);
  if (state === readOnlyState && access === "write") return takesNoWrites(error);
  if (state === undefined) {
    if (isRowTooLarge(error)) return answerTooLarge(error);
    return isConnectionLoss(error)
      ? new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause: error })
      : new SvcError("INTERNAL", undefined, { cause: error });
  }
  // Sent again, the statement is prepared anew.
  if (isPlanOutdated(error)) return new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause: error });
  const mapping: Mapping =
    state === "42501" && isAnonymous(identity)
      ? { code: "UNAUTHORIZED" }
      : (withoutPartition(error) ?? sqlStates[state] ?? classes[state.slice(0, 2)] ?? { code: "INTERNAL" });
  const { code, message, hint } = mapping.spoken ? { ...mapping, ...spoken(error, state) } : mapping;
  const invalid = state === "22023" ? pathIn(error, "invalid") : undefined;
  if (invalid) {
    const issues = [{ path: invalid, message: fromDatabase(error)?.message ?? "" }];
    return new SvcError("VALIDATION_FAILED", undefined, { issues, cause: error });
  }
  const path = failedPlace(error);
  return new SvcError(code, message, {
    hint,
    ...(path && { issues: [{ path, message: message ?? errorCodes[code].message }] }),
    ...(code === "UNAVAILABLE" && { retryAfter: 1 }),
    cause: statesOfPoolers.includes(state) ? lostByPooler(error) : error,
  });
}

/** What PostgreSQL says behind a pooler that hands out connections without their prepared statements, and after DEALLOCATE. */
const statesOfPoolers: readonly string[] = ["26000", "42P05"];

/**
 * A connection has other prepared statements than the driver knows of. The statement did not run, and others fail until the
 * connection is closed.
 */
export const isStatementGone = (error: unknown): boolean => statesOfPoolers.includes(sqlState(error) ?? "");

/** For operators: in the log, and where a command ends by it. */
export function lostByPooler(error: unknown): Error | undefined {
  const { code = "", message } = fromDatabase(error) ?? {};
  if (!statesOfPoolers.includes(code)) return undefined;
  const text = `A pooler that does not support named prepared statements stands before PostgreSQL: ${message}.
  Use PgBouncer 1.21 or newer with max_prepared_statements above 0, or session mode. \`svc doctor\` names the variable.
  If it names none, a function of the application has run DEALLOCATE, which takes the statements of svc away: leave it out.`;
  return new Error(text, { cause: error });
}

/** PostgreSQL gives this refusal the SQLSTATE of check constraints. */
const withoutPartition = (error: unknown): Mapping | undefined =>
  fromDatabase(error)?.routine === "ExecFindPartition"
    ? { code: "BAD_REQUEST", message: "Its table has no partition for this row." }
    : undefined;

const answerTooLarge = (cause: unknown) =>
  new SvcError("BAD_REQUEST", "The answer is too large.", {
    hint: "Ask for fewer rows, or select fewer columns.",
    cause,
  });

/** Message and hint of the application's error. In a `raise` without a message, PostgreSQL uses the code as the message. */
function spoken(error: unknown, state: string): Pick<Mapping, "message" | "hint"> {
  const { message, hint } = fromDatabase(error) ?? {};
  return { ...(message !== state && message && { message }), ...(hint && { hint }) };
}

/** The application's refusal as its caller may see it; other errors unchanged. For errors of sign-in's connections. */
export const refusalIn = (error: unknown): unknown =>
  sqlStates[sqlState(error) ?? ""]?.spoken ? databaseError(error, identityOfUser(null)) : error;

const statements = new WeakMap<object, string>();

/** Notes which statement failed. Not a property of the error: logs must not have it. @returns the error */
export function noteStatement(error: unknown, text: string): object {
  statements.set(Object(error), text);
  return Object(error);
}

export const statementOf = (error: object): string | undefined => statements.get(error);

/** The answer if the server is a standby, or its operator has closed it to writes. */
export const takesNoWrites = (cause: unknown) =>
  new SvcError("UNAVAILABLE", "The database takes no changes at the moment.", { retryAfter: 5, cause });

/** The answer if a connection was lost during a write and its outcome is unknown. */
export const outcomeUnknown = (cause: unknown) =>
  new SvcError("OUTCOME_UNKNOWN", undefined, {
    hint: "Check whether the change was saved before you send it again.",
    cause,
  });

/** The SQLSTATE of an error or of its cause (Drizzle wraps the driver's error), if there is one. */
export const sqlState = (error: unknown): string | undefined => fromDatabase(error)?.code;

/** PostgreSQL's own error: the given one or its cause. */
export function fromDatabase(error: unknown): pg.DatabaseError | undefined {
  // Node's own codes, such as EPIPE, can look like a SQLSTATE.
  return causesOf(error)
    .filter((one) => one instanceof pg.DatabaseError)
    .find(({ code }) => code !== undefined);
}

/** The part of the input for which a generated function has failed (src/crud/crud-many.ts). */
export const failedPlace = (error: unknown) => pathIn(error, "at");

/**
 * A path in the detail of an error of our own functions: `at` a failed part of the input, or `invalid`, whose message is
 * for the caller. It begins the detail: details of others may hold a caller's text behind their own.
 */
function pathIn(error: unknown, kind: "at" | "invalid"): (string | number)[] | undefined {
  const [, path = ""] = new RegExp(`^svc:${kind}=(\\[.*\\])(\\n|$)`).exec(fromDatabase(error)?.detail ?? "") ?? [];
  return jsonIn(path) as (string | number)[] | undefined;
}

/** Deadlock and serialization failure: the same statement may succeed on a retry. */
export const isTransient = (error: unknown) => ["40001", "40P01"].includes(sqlState(error) ?? "");

/**
 * A function, column or type is not what the statement expected. A migration that committed while the statement waited for
 * its table leads to this, and a second try then finds the new one.
 */
export const isOutdated = (error: unknown) =>
  ["0A000", "42703", "42704", "42804", "42883", "42P01"].includes(sqlState(error) ?? "");

/** A migration has changed what a prepared statement answers with. The statement fails until its connection is closed. */
export const isPlanOutdated = (error: unknown) => fromDatabase(error)?.routine === "RevalidateCachedQuery";

/**
 * Whether a failed statement may have been carried out: its connection is lost, and neither the server nor the driver
 * reports that it did not run.
 */
export function mayHaveRun(error: unknown): boolean {
  if (!isConnectionLoss(error)) return false;
  const state = sqlState(error);
  if (state === undefined) return !/not queryable/.test(rootOf(error).message ?? ""); // the driver had not sent it
  // PgBouncer's: it had no connection to the server, and sent nothing.
  if (fromDatabase(error)?.message === "query_wait_timeout") return false;
  return !reportedBeforeCommit.has(state);
}

/**
 * Reasons for closing a connection that the server reports only during a statement or a pause, never between a commit and
 * its answer. Class 08 is not among them: a pooler reports a lost server by it, whether or not the statement has run.
 */
const reportedBeforeCommit: ReadonlySet<string> = new Set(["57P01", "57P03", "57P05", "25P03", "25P04"]);

/** The connection is lost, or about to be: shut down, crashed, terminated, reset. */
export function isConnectionLoss(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return state.startsWith("08") || state === "57P02" || reportedBeforeCommit.has(state);
  const { code, message } = rootOf(error);
  return (
    isRowTooLarge(error) ||
    brokenSockets.has(code ?? "") ||
    /Connection terminated|not queryable|timeout exceeded when trying to connect/.test(message ?? "")
  );
}

/**
 * The connection is lost, and not because of the row that it carried, nor because the transaction took too long (25P04): what has
 * not been saved may run again on another one.
 */
export const isBrokenOff = (error: unknown): boolean =>
  isConnectionLoss(error) && !isRowTooLarge(error) && sqlState(error) !== "25P04" && !(error instanceof SvcError);

const brokenSockets: ReadonlySet<string> = new Set(
  "ECONNRESET ECONNREFUSED ECONNABORTED EPIPE ETIMEDOUT EHOSTUNREACH ENETUNREACH ERR_STREAM_DESTROYED".split(" "),
);

const rootOf = (error: unknown) =>
  (error instanceof Error && error.cause instanceof Error ? error.cause : Object(error)) as {
    code?: string;
    message?: string;
  };
