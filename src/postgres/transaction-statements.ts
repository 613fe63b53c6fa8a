/** The statements that begin, enter and end a request's transaction. Sent by `transaction.ts`. */
import type pg from "pg";
import type { Access, TransactionLimits } from "./access.ts";
import type { Identity } from "./identity.ts";
import { type Step, sendSteps } from "./packet.ts";
import { literal } from "./schema-names.ts";

// Statements with a name are prepared once on each connection. BEGIN has none: it must not fail where prepared statements are
// gone, because what is sent behind it would run outside of a transaction then, such as a job's insert as the login. A transaction
// that writes does not say `read write`: an operator may have closed the database to writes (default_transaction_read_only), as
// hosts do whose disk is full.
const begin = {
  read: { name: "", text: "begin isolation level repeatable read read only" },
  write: { name: "", text: "begin isolation level read committed" },
};
// Types and operators of extensions are found as in migrations: an extension lies in public or in extensions. Behind what is set
// already, so that no other name changes its meaning.
const findExtensions =
  "set_config('search_path', concat_ws(', ', nullif(current_setting('search_path'), ''), 'extensions'), true)";
const become =
  `${findExtensions}, ` +
  "set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true), " +
  "set_config('svc.user_id', $3, true), set_config('role', $4, true)";
// A transaction that writes returns its id at once: if the connection is lost during COMMIT, its outcome can be queried.
const mark = "pg_current_xact_id()::text, svc.server_incarnation()";
/** For entries of the history: which request or job made a change. Not svc.carry_trace(), which needs tracing. */
const note = (parameter: string) => `set_config('svc.request_id', ${parameter}, true)`;
const enter = {
  read: { name: "svc_enter", text: `select ${become}` },
  write: { name: "svc_enter_write", text: `select ${mark}, ${note("$5")}, ${become}` },
  /** For a traced call: its effects will be known as part of its trace (sql/realtime/carry_trace.sql). */
  traced: { name: "svc_enter_traced", text: `select ${mark}, svc.carry_trace($6), ${note("$5")}, ${become}` },
};
/** Sent before the caller's role is entered, as part of the same packets. */
const asJob = { name: "svc_enter_job", text: "select set_config('svc.actor', 'job', true)" };
const carryTrace = { name: "svc_enter_trace", text: "select svc.carry_trace($1)" };
/** Sent together with COMMIT, and answered before COMMIT begins (reason: sql/session/transaction_outcome.sql). */
export const placeOfCommit = "pg_current_wal_insert_lsn()::text as place";
export const place: Step = { name: "svc_enter_commit", text: `select ${placeOfCommit}`, values: [] };
export const end = {
  // Unnamed, so it uses the simple protocol. There the server checks for a reason to close the connection before COMMIT
  // and not after it: such a reason means that nothing was committed.
  commit: { text: "commit" },
  rollback: { name: "svc_rollback", text: "rollback" },
};
export const roleNone = { name: "svc_role_none", text: "set local role none" };
export const roleOf = (role: string) => ({ name: `svc_role_${role}`, text: `set local role ${role}` });

/** How a transaction begins. */
export interface Opening {
  access: Access;
  limits: TransactionLimits;
  /** Of a traced call that writes. */
  traceparent: string | undefined;
}

/** What identifies a transaction on its server. */
export interface Mark {
  /** pg_current_xact_id(). */
  transaction: string;
  /** svc.server_incarnation(). */
  server: string;
}

/**
 * Begins the transaction. A caller's is one packet, so statements that are sent next follow it.
 *
 * @param failed gets the error, before that of a statement which follows
 * @returns its mark, of a caller's transaction that writes
 */
export async function enterTransaction(
  client: pg.ClientBase,
  opening: Opening,
  identity: Identity,
  failed: (error: unknown) => void,
): Promise<Mark | undefined> {
  if (identity.role === "svc_system") {
    await enterAsSystem(client, opening, identity).catch(failed);
    return undefined;
  }
  const row = await sendSteps(client, stepsOfCaller(opening, identity), failed);
  const [transaction, server] = row ?? [];
  return opening.access === "write" && transaction && server ? { transaction, server } : undefined;
}

/** The system may not call set_config(): no other role can become it, and it can become no other role. */
async function enterAsSystem(
  client: pg.ClientBase,
  { access, limits, traceparent }: Opening,
  { request }: Identity,
): Promise<void> {
  const { statementTimeoutMs, idleInTransactionMs } = limits;
  await client.query(
    `${begin[access].text}; set local statement_timeout = ${Number(statementTimeoutMs)}; ` +
      `set local idle_in_transaction_session_timeout = ${Number(idleInTransactionMs)}` +
      (request && access === "write" ? `; set local svc.request_id = ${literal(request)}` : ""),
  );
  if (traceparent) await client.query({ ...carryTrace, values: [traceparent] });
}

function stepsOfCaller({ access, limits, traceparent }: Opening, identity: Identity): [Step, ...Step[]] {
  const { setting, role, request = "" } = identity;
  const values = [String(limits.statementTimeoutMs), String(limits.idleInTransactionMs), setting, role];
  const noted = [...values, request];
  const entering =
    access === "read"
      ? { ...enter.read, values }
      : traceparent
        ? { ...enter.traced, values: [...noted, traceparent] }
        : { ...enter.write, values: noted };
  const beginning = { ...begin[access], values: [] };
  return identity.isJob ? [beginning, { ...asJob, values: [] }, entering] : [beginning, entering];
}
