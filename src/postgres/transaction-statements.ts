/** The statements that begin, enter and end a request's transaction. Sent by `transaction.ts`. */

// Named, so that they are prepared once per connection.
export const begin = {
  read: { name: "svc_begin_read", text: "begin isolation level repeatable read read only" },
  write: { name: "svc_begin_write", text: "begin isolation level read committed read write" },
};
export const enter = {
  name: "svc_enter",
  text:
    "select set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true), " +
    "set_config('svc.user_id', $3, true), set_config('role', $4, true)",
};
/** Of a call that is traced: what it causes will be known as a part of its trace (sql/realtime/carry_trace.sql). */
export const enterTraced = {
  name: "svc_enter_traced",
  text: enter.text.replace("select ", "select svc.carry_trace($5), "),
};
export const carryTrace = { name: "svc_enter_trace", text: "select svc.carry_trace($1)" };
export const end = {
  commit: { name: "svc_commit", text: "commit" },
  rollback: { name: "svc_rollback", text: "rollback" },
};
export const roleNone = { name: "svc_role_none", text: "set local role none" };
export const roleOf = (role: string) => ({ name: `svc_role_${role}`, text: `set local role ${role}` });
