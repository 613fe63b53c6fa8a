/**
 * The identity of a statement. Only this file maps a session to a database role.
 * Next hop: `transaction-statements.ts` sets it in a transaction, `src/crud/statement.ts` in generated CRUD.
 */
import type { Session } from "../kit/session.ts";

export interface Identity {
  /** The setting that policies read through svc.current_user_id(); "" when anonymous. */
  userId: string;
  /** `svc_system` is not set by SET ROLE: its transactions run on the system's pool, as the role that logged in. */
  role: "svc_anonymous" | "svc_authenticated" | "svc_system";
  /** The holder of the connection share (`acquire.ts`). (Default: none) */
  holder?: string | undefined;
  /** The id of the request, job or run, for entries of the history (sql/history/note_change.sql). (Default: none) */
  request?: string | undefined;
}

/** For work without a user: crons, and jobs that declare it. */
export const systemIdentity: Identity = { userId: "", role: "svc_system" };

/**
 * @param session null for a caller who is not signed in
 * @param holder  as in `Identity`, as `request`
 */
export function identityOf(session: Session | null, holder?: string, request?: string): Identity {
  return { ...identityOfUser(session?.user.id ?? null, holder), request };
}

/** @param userId null for a caller who is not signed in */
export function identityOfUser(userId: string | null, holder?: string): Identity {
  return userId === null
    ? { userId: "", role: "svc_anonymous", holder }
    : { userId, role: "svc_authenticated", holder };
}

export const isAnonymous = (identity: Identity) => identity.role === "svc_anonymous";
