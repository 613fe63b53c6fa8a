/** Who calls. Each transport makes it from its request: `callerOf` in `src/http/exchange.ts`. */
import type { Session } from "../kit/session.ts";
import type { Client } from "./handler-auth.ts";

/** The caller, and the request id. */
export interface Caller {
  session: Session | null;
  requestId: string;
  /** The holder of the connection share: a user id, or the network of an anonymous caller. (Default: none) */
  holder?: string;
  /** The client that sent the request. (Default: there is no request, as in a job) */
  client?: () => Client;
  /** Whether a job acts for the user of the session. (Default: false) */
  job?: boolean;
  /** Whether the caller is the platform itself: a cron, or a job that declares it. (Default: false) */
  system?: boolean;
}
