/** Hints for developers about what PostgreSQL refused: which command explains it, and what is missing. None in production. */
import { SvcError } from "../kit/svc-error.ts";
import { isUuid } from "../kit/uuid.ts";
import { fromDatabase, sqlState } from "./errors.ts";

/** By SQLSTATE. Only the log may name the policy or grant; in development, callers are told where to look. */
const places: Record<string, string> = {
  "42501": "The log entry with this requestId has PostgreSQL's reason; svc policies says who may do what.",
  "42P17":
    "A table's policies query the same table, which PostgreSQL refuses; svc db lint names them: recursive_policy.",
};

/** The message of an invalid value would quote it. */
const placeOf = (state: string) =>
  places[state] ??
  (state.startsWith("22") ? "The log entry with this requestId has PostgreSQL's message about the value." : undefined);

/** @param userId of the caller who is signed in */
export function whereToLook(error: unknown, userId: string | null): unknown {
  if (!(error instanceof SvcError) || error.issues) return error;
  // A missing session has no place in the schema. PostgreSQL's refusal has one: a policy or grant that leaves out visitors.
  if (error.code === "UNAUTHORIZED" && sqlState(error.cause) !== "42501") return error;
  const hint =
    userId && isNoUuid(error.cause, userId)
      ? textIds
      : (brokenRule(error.cause) ??
        refusedRow(error.cause) ??
        missingGrant(error.cause, userId) ??
        placeOf(sqlState(error.cause) ?? ""));
  return hint ? new SvcError(error.code, error.message, { hint, cause: error.cause }) : error;
}

/** The name of a violated constraint. The message is localized and quotes values. */
function brokenRule(cause: unknown): string | undefined {
  const { code, constraint, schema, table } = fromDatabase(cause) ?? {};
  if (!code?.startsWith("23") || !constraint) return undefined;
  return `It violates the constraint "${constraint}" of ${schema}.${table}; the log has the details.`;
}

/** PostgreSQL names a restrictive policy, and of the permissive ones the table alone, in a message of the server's language. */
function refusedRow(cause: unknown): string | undefined {
  const { routine, message = "" } = fromDatabase(cause) ?? {};
  const [, table] = /row-level security policy.* for table "(\w+)"$/.exec(message) ?? [];
  if (routine !== "ExecWithCheckOptions" || table === undefined) return undefined;
  return (
    `The policies of ${table} do not let this caller write this row, or read it as the call returns it: svc policies ${table} ` +
    "lists them. An insert of a handler sets the owner itself, such as userId: context.auth.requireAuth().user.id. " +
    "The log entry with this requestId has PostgreSQL's reason."
  );
}

/** PostgreSQL names the table alone, also where only the privilege for one of its columns is missing. */
function missingGrant(cause: unknown, userId: string | null): string | undefined {
  const { routine, message = "" } = fromDatabase(cause) ?? {};
  if (routine !== "aclcheck_error") return undefined;
  const [, kind, name = ""] = /^permission denied for (function|table|view) (\w+)$/.exec(message) ?? [];
  if (kind === "function") {
    const role = userId ? "svc_authenticated" : "svc_anonymous";
    return `The caller may not run the function ${name}, which a policy or a statement calls. If it is a function of the application, write beside it: grant execute on function ${name} to ${role}.`;
  }
  const what = kind ? `on the ${kind} ${name}` : "for what the log entry with this requestId names";
  return `A grant is missing: ${what}, or for one of its columns. Migrations of svc grant no update of id, userId and createdAt. svc policies ${name && `${name} `}lists the columns.`;
}

const textIds =
  "A policy compares a uuid with this user's id, which is not a uuid. Make the column text. Or set advanced.database.generateId to \"uuid\" in defineAuth's betterAuth: new users then get uuids.";

/** PostgreSQL's message quotes the value, in any language. */
function isNoUuid(cause: unknown, userId: string): boolean {
  if (sqlState(cause) !== "22P02" || isUuid(userId)) return false;
  const { message, cause: inner } = cause as Error;
  return `${message} ${inner instanceof Error ? inner.message : ""}`.includes(`"${userId}"`);
}
