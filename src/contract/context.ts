/**
 * What a handler receives. One object per call; its members appear lazily, so an unused database costs nothing.
 * Next hop: `src/call/create-context.ts` builds it.
 */
import type { Logger } from "pino";
import type { Session } from "../kit/session.ts";
import type { RequestDatabase, Schema, SystemDatabase } from "./database.ts";
import type { ContextGrounding } from "./grounding.ts";
import type { ContextRag } from "./rag.ts";
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
}

/** The `context` of handlers and middleware. */
export interface Context<S extends Schema = Schema> {
  /** The caller's database: RLS applied, one transaction per call. */
  readonly db: RequestDatabase<S>;
  /**
   * Reads as the caller in a transaction of its own, also when the call is over: for rows that are sent as a stream. It does
   * not see what the call has written and not yet committed.
   */
  read<T>(work: (db: RequestDatabase<S>) => Promise<T>): Promise<T>;
  /** Past RLS, as `svc_system`. For audited administration only; not part of the call's transaction. */
  readonly unsafeDb: SystemDatabase<S>;
  readonly auth: ContextAuth;
  /** Finds rows of a searchable table by keyword. */
  readonly search: ContextSearch["search"];
  /** Finds rows of a searchable table by their vectors. */
  readonly vectorSearch: ContextSearch["vectorSearch"];
  /** Finds rows of a searchable table by both. */
  readonly hybridSearch: ContextSearch["hybridSearch"];
  /** Documents that answers are grounded on. */
  readonly rag: ContextRag;
  /** Looks claims up in them. Optional by its contract, and always there in this version. */
  readonly grounding?: ContextGrounding;
  /** The caller's files; their rows are part of the call's transaction. */
  readonly storage: ContextStorage;
  /** Tells subscribers when the call commits. */
  readonly realtime: ContextRealtime;
  /** Runs internal procedures later, if the call commits. */
  readonly scheduler: ContextScheduler;
  /** Starts, looks at and steers the caller's runs of workflows. */
  readonly workflows: ContextWorkflows;
  /** pino, with the request id on every line. */
  readonly log: Logger;
  /** The id that the caller and every log line of this call carry. */
  readonly requestId: string;
}
