/**
 * What handlers do with accounts: sign-up, sign-in and changes of the caller's own account.
 * Next hop: `src/auth/handler-auth.ts` does it, `src/call/handler-auth.ts` offers it as `context.auth`.
 */
import type { Session, SessionUser } from "../kit/session.ts";

/** The client that sent a request: limits on attempts and the rows of sessions need it. */
export interface Client {
  /** Of the client, as far as proxies and bridges are trusted. */
  readonly address: string | undefined;
  readonly userAgent: string;
  /** Aborts when the client closes the connection before it has its answer. */
  readonly left: AbortSignal;
}

/** A session that has just been opened. */
export interface SignedIn {
  user: Pick<SessionUser, "id" | "email" | "name">;
  /** For 7 days. */
  sessionToken: string;
  /** A JWT, for 5 minutes. */
  token: string;
}

export interface SignUpInput {
  email: string;
  password: string;
  name: string;
}

export interface SignInInput {
  email: string;
  password: string;
  /** The second factor, where the account has one. */
  code?: string;
  backupCode?: string;
}

/** Changes of the caller's row. Additional fields of `defineAuth` by their names. */
export interface UserChanges {
  name?: string;
  /** A URL. */
  image?: string | null;
  [field: string]: unknown;
}

/** The same for any caller. */
export interface HandlerAuth {
  signUp(input: SignUpInput, client: Client): Promise<SignedIn>;
  signIn(input: SignInInput, client: Client): Promise<SignedIn>;
  signOut(session: Session): Promise<void>;
  updateUser(session: Session, changes: UserChanges): Promise<void>;
  changeEmail(session: Session, email: string, client: Client): Promise<void>;
  setPassword(session: Session, password: string, client: Client): Promise<void>;
}
