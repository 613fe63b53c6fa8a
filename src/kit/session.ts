/** Who is calling. Made by `src/auth/sessions/authenticate.ts` from a credential, read by handlers through `ctx.auth`. */

export interface SessionUser {
  id: string;
  email: string;
  name: string;
  /** Additional user fields, as declared in `defineAuth({ user: { additionalFields } })`. */
  [field: string]: unknown;
}

export interface Session {
  /** Id of the session row, the `sid` claim of a JWT. */
  id: string;
  user: SessionUser;
}

/** The part of a request that carries credentials. */
export interface CredentialHeaders {
  authorization?: string | undefined;
  cookie?: string | undefined;
  /** What a browser says about the page that asks. */
  origin?: string | undefined;
}

/**
 * Finds out who is calling.
 *
 * @param access what the call may do. A cookie, which browsers send whoever asks, lets nobody write but the pages of
 *               listed origins (Default: "write")
 * @returns null when there is no credential or none that is valid; a promise only when the database had to be asked
 * @throws SvcError FORBIDDEN by cookie from another origin, for a write also without one
 */
export type Authenticate = (
  headers: CredentialHeaders,
  access?: "read" | "write",
) => Session | null | Promise<Session | null>;
