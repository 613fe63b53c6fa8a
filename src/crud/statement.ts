/**
 * Calls generated CRUD in one round trip: a single statement sets the identity, changes to the request role and calls
 * the SQL function. The statement is the transaction.
 * Next hop: the function itself, in the application's `sql/crud/`.
 */
import type pg from "pg";
import type { CrudStatement } from "../contract/crud.ts";
import { SvcError } from "../kit/svc-error.ts";
import { acquire } from "../postgres/acquire.ts";
import {
  databaseError,
  isBrokenOff,
  isConnectionLoss,
  isOutdated,
  isStatementGone,
  isTransient,
  mayHaveRun,
  outcomeUnknown,
} from "../postgres/errors.ts";
import type { Identity } from "../postgres/identity.ts";
import { preparedName, sendStatement } from "../postgres/packet.ts";
import { runPacket } from "../postgres/shared-reads.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { activeSpan } from "../telemetry/span.ts";

/**
 * The statement that sets the identity and calls the function.
 *
 * `offset 0` prevents flattening of the sub-select, and its select list is evaluated in order: identity first, then the
 * role, which may not call set_config() (sql/grants.sql). Only then does the outer list call the function. The
 * functions are plpgsql because `language sql` would be planned, policies included, before the role changes.
 *
 * @param writes whether a parameter behind the arguments is the id of the request (sql/history/note_change.sql)
 * @param traced whether the last parameter is the trace of the changes (sql/realtime/carry_trace.sql)
 */
export function callText(
  name: string,
  argumentCount: number,
  withSnapshot = false,
  writes = false,
  traced = false,
): string {
  const parameters = Array.from({ length: argumentCount }, (_, index) => `$${index + 3}`).join(", ");
  // Reading functions are STABLE: they see the statement's own snapshot.
  // The columns of the outer list are evaluated in order too: by then the function holds its locks.
  const snapshot = withSnapshot ? ", pg_current_snapshot()::text as snapshot, (svc.tables_read()).tables" : "";
  const noted = writes ? `set_config('svc.request_id', $${argumentCount + 3}, true) as r, ` : "";
  const trace = traced ? `svc.carry_trace($${argumentCount + 4}) as t, ` : "";
  return (
    `select svc_crud.${name}(${parameters})::text as result${snapshot} ${entered(noted + trace)}` +
    (writes ? " and r is not null" : "") +
    (traced ? " and t is not null" : "")
  );
}

const entered = (before = "") =>
  `from (select ${before}set_config('svc.user_id', $1, true) as a, set_config('role', $2, true) as b offset 0) as entered ` +
  "where a is not null and b is not null";

/**
 * Calls a platform function that is plpgsql and STABLE, with the given identity.
 *
 * @param call trusted SQL; its parameters begin with $3
 * @param name of the prepared statement. (Default: the call)
 * @returns the result as text
 */
export async function callAs(
  pool: pg.Pool,
  identity: Identity,
  call: string,
  parameters: unknown[],
  name = call,
): Promise<string | null> {
  const { client, release } = await acquire(pool, identity.holder);
  try {
    const { rows } = await client.query<{ result: string | null }>({
      name: preparedName(name),
      text: `select (${call})::text as result ${entered()}`,
      values: [identity.setting, identity.role, ...parameters],
    });
    release();
    return rows[0]?.result ?? null;
  } catch (error) {
    release(isBreaking(error));
    throw databaseError(error, identity);
  }
}

const isBreaking = (error: unknown) => isConnectionLoss(error) || isStatementGone(error);

const texts = new Map<string, string>();

/** Retries after a deadlock, a serialization failure or a migration. Each statement is its own transaction, so nothing runs twice. */
export const maxRetries = 2;

type Watched = (snapshot: string | null, tables: string[]) => void;

/**
 * Calls a generated function with the given identity.
 *
 * @param reads   whether the function only reads; then it is retried once after a lost connection
 * @param watched called with the snapshot of the answer, and the tables that it was read from
 * @returns the function's JSON as text, or null
 * @throws SvcError through the SQLSTATE map; OUTCOME_UNKNOWN for a write whose connection was lost before its answer: a
 *   statement that is its own transaction cannot report its transaction id in advance
 */
export async function callStatement(
  pool: pg.Pool,
  identity: Identity,
  statement: CrudStatement,
  values: (string | number | null)[],
  reads: boolean,
  watched?: Watched,
): Promise<string | null> {
  const query = queryOf(identity, statement, values, reads, watched !== undefined);
  const names = reads && !watched ? [query.name] : [];
  const send = (client: pg.ClientBase) =>
    watched ? sendWatched(client, query, watched) : sendStatement(client, query);
  for (let attempt = 0; ; attempt++) {
    try {
      return await runPacket(pool, identity, names, send, isBreaking);
    } catch (error) {
      if (error instanceof SvcError) throw error;
      if (attempt === maxRetries || !mayRepeat(error, reads)) throw failureOf(error, identity, reads);
    }
  }
}

/** The statement of a call, with its parameters in the order of `callText`. */
function queryOf(
  identity: Identity,
  statement: CrudStatement,
  values: (string | number | null)[],
  reads: boolean,
  withSnapshot: boolean,
) {
  const span = reads ? undefined : activeSpan();
  const trace = span?.sampled ? [span.traceparent] : [];
  // Functions of one name differ in the number of their arguments.
  const overload = values.length === 1 ? statement.function : `${statement.function}/${values.length}`;
  const name = preparedName(`${overload}${withSnapshot ? "+snapshot" : ""}${trace.length > 0 ? "+trace" : ""}`);
  let text = texts.get(name);
  if (!text) {
    text = callText(statement.function, values.length, withSnapshot, !reads, trace.length > 0);
    texts.set(name, text);
  }
  const noted = reads ? [] : [identity.request ?? ""];
  return { name, text, values: [identity.setting, identity.role, ...values, ...noted, ...trace] };
}

async function sendWatched(client: pg.ClientBase, query: pg.QueryConfig, watched: Watched): Promise<string | null> {
  const { rows } = await client.query<{ result: string | null; snapshot: string; tables: string[] }>(query);
  watched(rows[0]?.snapshot ?? null, rows[0]?.tables ?? []);
  return rows[0]?.result ?? null;
}

/** PostgreSQL has rolled back, role and identity included. Only a broken connection is closed. */
const mayRepeat = (error: unknown, reads: boolean): boolean =>
  isTransient(error) || isOutdated(error) || isStatementGone(error) || (reads && isBrokenOff(error));

const failureOf = (error: unknown, identity: Identity, reads: boolean): SvcError =>
  !reads && mayHaveRun(error)
    ? outcomeUnknown(error)
    : explained(databaseError(error, identity, reads ? "read" : "write"), reads);

/** A timeout of a list: the caller can request less. */
export function explained(error: SvcError, reads: boolean): SvcError {
  if (error.code !== "TIMEOUT" || !reads) return error;
  return new SvcError("TIMEOUT", undefined, { hint: slowList, cause: error.cause });
}

const slowList =
  "Ask for fewer rows, leave out search, like and ilike, or filter by an indexed column as well. The operator can add an " +
  'index, set count: "estimated" of createCrud, or raise limits.generatedTimeoutMs.';

/** Calls a generated function inside a transaction that has its identity already. */
export async function callWithin(
  transaction: RequestTransaction,
  statement: CrudStatement,
  values: (string | number | null)[],
): Promise<string | null> {
  const parameters = values.map((_, index) => `$${index + 1}`).join(", ");
  const text = `select svc_crud.${statement.function}(${parameters})::text as result`;
  const { rows } = await transaction.query({ name: preparedName(`${statement.function}+tx`), text }, values);
  return rows[0]?.result ?? null;
}
