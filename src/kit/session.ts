/**
 * The session of a caller. `src/auth/sessions/authenticate.ts` creates it from a credential, handlers read it through `ctx.auth`.
 */

export interface SessionUser {
  id: string;
  email: string;
  name: string;
  /** Additional user fields, as declared in `defineAuth({ user: { additionalFields } })`. */
  [field: string]: unknown;
}

export interface Session {
  /** Id of the session row, the `sid` claim of a JWT; of a call by an API key, the key's id. */
  id: string;
  user: SessionUser;
  /** Set if a program calls with an API key of the user. A key has no session: it cannot sign out, or change the account. */
  key?: ApiKey;
  /** The id of the administrator who acts as the user: a visit, by `impersonateUser` of the plugin `admin`. */
  visit?: string;
}

/** The API key of a call. */
export interface ApiKey {
  id: string;
  /** What it may do; "*" is everything. */
  scopes: readonly string[];
}

/** The sessions that have ended. JWTs and sockets of these sessions end with them. */
export interface Ended {
  /** (Default: those of all users) */
  user?: string;
  /** Id of its row. (Default: all of the user's) */
  session?: string;
}

/** The part of a request that carries credentials. */
interface CredentialHeaders {
  authorization?: string | undefined;
  cookie?: string | undefined;
  /** The origin of the page, as the browser sends it. */
  origin?: string | undefined;
}

/**
 * Authenticates the caller.
 *
 * @param access what the call may do. Browsers send cookies with requests from any page, so writes by cookie must come
 *   from a page of a listed origin (Default: "write")
 * @returns null without a valid credential; a promise only if the database must be queried
 * @throws SvcError FORBIDDEN by cookie from another origin, for a write also without an origin
 */
export type Authenticate = (
  headers: CredentialHeaders,
  access?: "read" | "write",
) => Session | null | Promise<Session | null>;
