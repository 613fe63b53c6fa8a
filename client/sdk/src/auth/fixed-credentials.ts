/** Credentials that never change, in place of an auth client: an API key, or the headers of a request to a server. */
import type { AuthClient } from "./create-auth-client.ts";

/** The same headers for every call, without refreshes and notifications. */
export function fixedCredentials(headers: Record<string, string>): AuthClient {
  const parts: Pick<AuthClient, "getState" | "subscribe" | "close" | "~svc"> = {
    getState: () => ({ token: null, user: null, isAuthenticated: false }),
    subscribe: () => () => {},
    close: () => {},
    "~svc": { credentials: async () => ({ headers }), refused: () => false },
  };
  return parts as AuthClient;
}
