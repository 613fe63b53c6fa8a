/** Who a statement runs as. This file is the only place where a session becomes a database role. */
import type { Session } from "../kit/session.ts";

export interface Identity {
  /** The setting that policies read through svc.current_user_id(); "" when anonymous. */
  userId: string;
  /** `svc_system` is no role to change to: its transactions run on the system's pool as whoever logged in there. */
  role: "svc_anonymous" | "svc_authenticated" | "svc_system";
  /** In whose share of the connections (`shares.ts`). (Default: in nobody's) */
  holder?: string | undefined;
}

/** What runs for nobody in particular: crons, and jobs that declare it. */
export const systemIdentity: Identity = { userId: "", role: "svc_system" };

/**
 * @param session null for a caller who is not signed in
 * @param holder  as in `Identity`
 */
export function identityOf(session: Session | null, holder?: string): Identity {
  return session
    ? { userId: session.user.id, role: "svc_authenticated", holder }
    : { userId: "", role: "svc_anonymous", holder };
}

export const isAnonymous = (identity: Identity) => identity.role === "svc_anonymous";
