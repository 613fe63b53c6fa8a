/** Who is calling. Made by `authenticate.ts` from a credential, read by handlers through `ctx.auth`. */

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
}

/**
 * Finds out who is calling.
 *
 * @returns null when there is no credential or none that is valid; a promise only when the database had to be asked
 */
export type Authenticate = (headers: CredentialHeaders) => Session | null | Promise<Session | null>;
