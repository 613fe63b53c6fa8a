/** The credential of a call of a plugin endpoint. */
import type { LiveSession } from "../sessions/session-store.ts";

/** A session token that we signed. */
export interface Credential {
  style: "token" | "cookie";
  /** null when the session has ended: the token then does not identify the caller. */
  live: {
    /** Bare, without its signature. */
    token: string;
    session: LiveSession;
  } | null;
}
