/** Which credential a call of a plugin endpoint brought. */
import type { LiveSession } from "../sessions/session-store.ts";

/** A session token that came along, signed here. */
export interface Credential {
  style: "token" | "cookie";
  /** null when the session has ended: the token then says nothing about who asks. */
  live: {
    /** Bare, without its signature. */
    token: string;
    session: LiveSession;
  } | null;
}
