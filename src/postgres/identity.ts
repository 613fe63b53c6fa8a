/** Who a statement runs as. This file is the only place where a session becomes a database role. */
import type { Session } from "../auth/session.ts";

export interface Identity {
  /** The setting that policies read through svc.current_user_id(); "" when anonymous. */
  userId: string;
  /** `svc_system` is no role to change to: its transactions run on the system's pool as whoever logged in there. */
  role: "svc_anonymous" | "svc_authenticated" | "svc_system";
}

/** What runs for nobody in particular: crons, and jobs that declare it. */
export const systemIdentity: Identity = { userId: "", role: "svc_system" };

const anonymous: Identity = { userId: "", role: "svc_anonymous" };

/** @param session null for a caller who is not signed in */
export function identityOf(session: Session | null): Identity {
  return session ? { userId: session.user.id, role: "svc_authenticated" } : anonymous;
}

export const isAnonymous = (identity: Identity) => identity.role === "svc_anonymous";
