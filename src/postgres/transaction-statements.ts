/** The statements that begin, enter and end a request's transaction. Sent by `transaction.ts`. */
import type pg from "pg";
import type { Access, TransactionLimits } from "./access.ts";
import type { Identity } from "./identity.ts";
import { literal } from "./schema-names.ts";

// Named, so that each connection prepares them once. A transaction that writes does not say `read write`: an operator may
// have closed the database to writes (default_transaction_read_only), as hosts do whose disk is full.
const begin = {
  read: { name: "svc_begin_read", text: "begin isolation level repeatable read read only" },
  write: { name: "svc_begin_write", text: "begin isolation level read committed" },
};
// Types and operators of extensions are found as in migrations: an extension lies in public or in extensions. Behind what is set
// already, so that no other name changes its meaning.
const findExtensions =
  "set_config('search_path', concat_ws(', ', nullif(current_setting('search_path'), ''), 'extensions'), true)";
const become =
  `${findExtensions}, ` +
  "set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true), " +
  "set_config('svc.user_id', $3, true), set_config('role', $4, true)";
// A transaction that writes returns its id at once: if the connection is lost during COMMIT, its outcome can be
// queried.
const mark = 'pg_current_xact_id()::text as "transaction", svc.server_incarnation() as server';
/** For entries of the history: which request or job made a change. Not svc.carry_trace(), which needs tracing. */
const note = (parameter: string) => `set_config('svc.request_id', ${parameter}, true)`;
const enter = {
  read: { name: "svc_enter", text: `select ${become}` },
  write: { name: "svc_enter_write", text: `select ${mark}, ${note("$5")}, ${become}` },
  /** For a traced call: its effects will be known as part of its trace (sql/realtime/carry_trace.sql). */
  traced: { name: "svc_enter_traced", text: `select svc.carry_trace($6), ${mark}, ${note("$5")}, ${become}` },
};
/** Sent before the caller's role is entered, as part of the same packets. */
const asJob = { name: "svc_enter_job", text: "select set_config('svc.actor', 'job', true)" };
const carryTrace = { name: "svc_enter_trace", text: "select svc.carry_trace($1)" };
/** Sent together with COMMIT, and answered before COMMIT begins (reason: sql/session/transaction_outcome.sql). */
export const placeOfCommit = "pg_current_wal_insert_lsn()::text as place";
export const place = { name: "svc_enter_commit", text: `select ${placeOfCommit}` };
export const end = {
  // Unnamed, so it uses the simple protocol. There the server checks for a reason to close the connection before COMMIT
  // and not after it: such a reason means that nothing was committed.
  commit: { text: "commit" },
  rollback: { name: "svc_rollback", text: "rollback" },
};
export const roleNone = { name: "svc_role_none", text: "set local role none" };
export const roleOf = (role: string) => ({ name: `svc_role_${role}`, text: `set local role ${role}` });

/** `pg` would send text without parameters by the simple protocol. Its types lack the option. */
export const extended = (config: pg.QueryConfig): pg.QueryConfig =>
  ({ ...config, queryMode: "extended" }) as pg.QueryConfig;

/** How a transaction begins. */
interface Opening {
  access: Access;
  limits: TransactionLimits;
  /** Of a traced call that writes. */
  traceparent: string | undefined;
}

type Send = (config: pg.QueryConfig) => Promise<pg.QueryResult | undefined>;

/**
 * One statement after the other: the system's pool is not pipelined. The system may not call set_config() either: no
 * other role can become it, and it can become no other role.
 */
export async function enterAsSystem(
  send: Send,
  { access, limits, traceparent }: Opening,
  { request }: Identity,
): Promise<void> {
  await send(begin[access]);
  await send({ text: `set local statement_timeout = ${Number(limits.statementTimeoutMs)}` });
  const noted = request && access === "write" ? `; set local svc.request_id = ${literal(request)}` : "";
  await send({ text: `set local idle_in_transaction_session_timeout = ${Number(limits.idleInTransactionMs)}${noted}` });
  if (traceparent) await send({ ...carryTrace, values: [traceparent] });
}

/** @returns the answer of the statement that enters the caller's role: of a transaction that writes, with its mark */
export function enterAsCaller(send: Send, { access, limits, traceparent }: Opening, identity: Identity) {
  const { setting, role, request = "" } = identity;
  send(begin[access]);
  if (identity.isJob) send(asJob);
  const values = [String(limits.statementTimeoutMs), String(limits.idleInTransactionMs), setting, role];
  if (access === "read") return send({ ...enter.read, values });
  const noted = [...values, request];
  return traceparent
    ? send({ ...enter.traced, values: [...noted, traceparent] })
    : send({ ...enter.write, values: noted });
}
