/** Lifts the time limits that a server, a database or a role has for other work: a migration may build an index for an hour. */

const limits = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];

const lift = (set: "set" | "set local") =>
  `do $$ begin ${limits.map((name) => `${set} ${name} = 0;`).join(" ")}
     if current_setting('server_version_num')::integer >= 170000 then ${set} transaction_timeout = 0; end if;
   end $$`;

/** SQL; until the transaction ends. */
export const liftLimits = lift("set local");
/** SQL; for the rest of the session. */
export const liftSessionLimits = lift("set");
