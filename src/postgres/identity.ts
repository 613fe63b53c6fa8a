/**
 * The identity of a statement. Only this file maps a caller to a database role and to the setting that SQL reads.
 * Next hop: `transaction-statements.ts` sets it in a transaction, `src/crud/statement.ts` in generated CRUD.
 */
import type { Caller } from "../contract/caller.ts";

export interface Identity {
  /** The user's id; "" when anonymous. */
  userId: string;
  /**
   * The setting svc.user_id: the user's id, and behind tabs `visit` and the administrator's id, or `key` and the scopes of an API key.
   * SQL reads it by svc.current_user_id(), svc.current_actor() and svc.has_scope(). Whatever enters as a caller sets all of it or
   * nothing.
   */
  setting: string;
  /** Whether a job acts for the user, with the user's rights: svc.current_actor() says so. (Default: false) */
  isJob?: boolean;
  /** Whether an administrator acts as the user. (Default: false) */
  isVisit?: boolean;
  /** `svc_system` is not set by SET ROLE: its transactions run on the system's pool, as the role that logged in. */
  role: "svc_anonymous" | "svc_authenticated" | "svc_system";
  /** The holder of the connection share (`acquire.ts`). (Default: none) */
  holder?: string | undefined;
  /** The id of the request, job or run, for entries of the history (sql/history/note_change.sql). (Default: none) */
  request?: string | undefined;
}

/** For work without a user: crons, and jobs that declare it. */
export const systemIdentity: Identity = { userId: "", setting: "", role: "svc_system" };

/** The identity of a caller who is not the system. */
export function identityOf({ session, holder, requestId, job = false }: Caller): Identity {
  const identity = identityOfUser(session?.user.id ?? null, holder, session?.key?.scopes);
  if (session?.visit) {
    identity.setting += `\tvisit\t${session.visit}`;
    identity.isVisit = true;
  }
  return { ...identity, request: requestId, ...(job && { isJob: true }) };
}

/**
 * @param userId null for a caller who is not signed in
 * @param scopes of an API key of the user. (Default: the user has no key, and so no limits)
 */
export function identityOfUser(userId: string | null, holder?: string, scopes?: readonly string[]): Identity {
  if (userId === null) return { userId: "", setting: "", role: "svc_anonymous", holder };
  // An id with a tab could claim to be somebody else's.
  if (userId.includes("\t")) throw new TypeError("The id of a user has a tab.");
  const setting = scopes ? `${userId}\tkey\t${scopes.join(" ")}` : userId;
  return { userId, setting, role: "svc_authenticated", holder };
}

export const isAnonymous = (identity: Identity) => identity.role === "svc_anonymous";
