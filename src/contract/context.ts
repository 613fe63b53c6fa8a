/**
 * What a handler receives. One object per call; its members appear lazily, so an unused database costs nothing.
 * Next hop: `src/call/create-context.ts` builds it.
 */
import type { NodePgQueryResultHKT } from "drizzle-orm/node-postgres";
import type { PgDatabase } from "drizzle-orm/pg-core";
import type { Logger } from "pino";
import type { ContextScheduler } from "../jobs/context.ts";
import type { Session } from "../kit/session.ts";
import type { ContextRag } from "../rag/context.ts";
import type { ContextGrounding } from "../rag/grounding.ts";
import type { ContextRealtime } from "../realtime/context.ts";
import type { ContextSearch } from "../search/context.ts";
import type { ContextStorage } from "../storage/context.ts";
import type { ContextWorkflows } from "../workflows/context.ts";

/** A map of Drizzle tables and relations, as `typeof schema`. */
export type Schema = Record<string, unknown>;

type Drizzle<S extends Schema> = PgDatabase<NodePgQueryResultHKT, S>;

/**
 * Drizzle over the call's one transaction, under the caller's role and identity.
 * The transaction opens with the first statement: read only for queries and GET routes, commits when the handler
 * returns, rolls back when it throws.
 */
export interface RequestDatabase<S extends Schema = Schema>
  extends Omit<Drizzle<S>, "execute" | "transaction" | "refreshMaterializedView"> {
  /** A savepoint inside the call's transaction: what `run` wrote is undone when it throws. */
  transaction<T>(run: (db: RequestDatabase<S>) => Promise<T>): Promise<T>;
  /** Always throws: raw SQL is not part of the request plane. Use the query builder, a SQL function, or `unsafeDb`. */
  execute(query: never): never;
}

/** Drizzle as the system role, past row-level security, each statement on its own unless `transaction` is used. */
export type SystemDatabase<S extends Schema = Schema> = Drizzle<S>;

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
