/**
 * The context that a handler receives. One object per call; its members are created on first use, so an unused database
 * costs nothing.
 * Next hop: `src/call/create-context.ts` builds it.
 */
import type { Logger } from "pino";
import type { Session } from "../kit/session.ts";
import type { RequestDatabase, Schema, SystemDatabase } from "./database.ts";
import type { ContextGrounding } from "./grounding.ts";
import type { SignedIn, SignInInput, SignUpInput, UserChanges } from "./handler-auth.ts";
import type { ContextRag } from "./rag.ts";
import type { CountCall } from "./rate-limit.ts";
import type { ContextRealtime } from "./realtime.ts";
import type { ContextScheduler } from "./scheduler.ts";
import type { ContextSearch } from "./search.ts";
import type { ContextStorage } from "./storage.ts";
import type { ContextWorkflows } from "./workflow-runs.ts";

export interface ContextAuth {
  /** The caller's session. @throws SvcError UNAUTHORIZED when nobody is signed in */
  requireAuth(): Session;
  /** The caller's session, or null. */
  getSession(): Session | null;
  /**
   * Creates an account and opens its session, as POST /api/auth/sign-up does. The caller's session does not change.
   * Like all acts here it is not part of the call's transaction.
   *
   * @throws SvcError EMAIL_TAKEN, VALIDATION_FAILED, RATE_LIMITED; QUERY_WROTE in a query
   */
  signUp(input: SignUpInput): Promise<SignedIn>;
  /** Opens a session. @throws SvcError INVALID_CREDENTIALS, TWO_FACTOR_REQUIRED, RATE_LIMITED */
  signIn(input: SignInInput): Promise<SignedIn>;
  /** Ends the caller's session. */
  signOut(): Promise<void>;
  /** Changes the caller's name, image and additional fields. The caller's JWTs end; the session stays. */
  updateUser(changes: UserChanges): Promise<void>;
  /** Changes the caller's address, which is then not verified, and sends the verification mail. @throws EMAIL_TAKEN */
  changeEmail(email: string): Promise<void>;
  /** Sets the caller's password without the old one, and ends the other sessions. */
  setPassword(password: string): Promise<void>;
}

export const inProduction: unique symbol = Symbol("inProduction");

/** What definitions of the platform know besides. */
export interface PlatformContext {
  readonly [inProduction]: boolean;
}

/** The `context` of handlers and middleware. */
export interface Context<S extends Schema = Schema> {
  /** The caller's database: RLS applied, one transaction per call. */
  readonly db: RequestDatabase<S>;
  /**
   * Reads as the caller in a separate transaction, also after the call has ended: for rows that are streamed. It does
   * not see uncommitted writes of the call.
   */
  read<T>(work: (db: RequestDatabase<S>) => Promise<T>): Promise<T>;
  /** Bypasses RLS, as `svc_system`. Only for audited administration; not part of the call's transaction. */
  readonly unsafeDb: SystemDatabase<S>;
  readonly auth: ContextAuth;
  /** Searches the rows of a searchable table by keyword. */
  readonly search: ContextSearch["search"];
  /** Searches the rows of a searchable table by vector. */
  readonly vectorSearch: ContextSearch["vectorSearch"];
  /** Searches the rows of a searchable table by keyword and vector. */
  readonly hybridSearch: ContextSearch["hybridSearch"];
  /** Documents for grounded answers. */
  readonly rag: ContextRag;
  /** Checks claims against those documents. Optional in the type; always present in this version. */
  readonly grounding?: ContextGrounding;
  /** The caller's files; their rows are part of the call's transaction. */
  readonly storage: ContextStorage;
  /** Notifies subscribers when the call commits. */
  readonly realtime: ContextRealtime;
  /** Enqueues internal procedures, if the call commits. */
  readonly scheduler: ContextScheduler;
  /** Starts, reads and controls the caller's workflow runs. */
  readonly workflows: ContextWorkflows;
  /** Limits how often a caller does something, in all processes together. */
  readonly rateLimit: CountCall;
  /** pino, with the request id in every line. */
  readonly log: Logger;
  /** The service's public origin, such as https://api.example.com, for links. */
  readonly baseUrl: string;
  /** The client's IP address, as far as `trustProxy` and bridges allow to tell; "" without a client, as in a job. */
  readonly address: string;
  /** The request id. The caller gets it, and every log line of this call has it. */
  readonly requestId: string;
}
