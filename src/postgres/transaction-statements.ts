/** The statements that begin, enter and end a request's transaction. Sent by `transaction.ts`. */
import type pg from "pg";

// Named, so that each connection prepares them once.
export const begin = {
  read: { name: "svc_begin_read", text: "begin isolation level repeatable read read only" },
  write: { name: "svc_begin_write", text: "begin isolation level read committed read write" },
};
const become =
  "set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true), " +
  "set_config('svc.user_id', $3, true), set_config('role', $4, true)";
// A transaction that writes returns its id at once: if the connection is lost during COMMIT, its outcome can be
// queried.
const mark = 'pg_current_xact_id()::text as "transaction", svc.server_incarnation() as server';
export const enter = {
  read: { name: "svc_enter", text: `select ${become}` },
  write: { name: "svc_enter_write", text: `select ${mark}, ${become}` },
  /** For a traced call: its effects will be known as part of its trace (sql/realtime/carry_trace.sql). */
  traced: { name: "svc_enter_traced", text: `select svc.carry_trace($5), ${mark}, ${become}` },
};
export const carryTrace = { name: "svc_enter_trace", text: "select svc.carry_trace($1)" };
/** Sent together with COMMIT, and answered before COMMIT begins (reason: sql/session/transaction_outcome.sql). */
export const place = { name: "svc_enter_commit", text: "select pg_current_wal_insert_lsn()::text as place" };
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
