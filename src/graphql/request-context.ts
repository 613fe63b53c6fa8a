/** The context of one request's plans: the caller, and the one connection. */
import type { WithPgClient } from "@dataplan/pg";
import { context, type Step } from "grafast";
import type { Session } from "../kit/session.ts";

export interface RequestContext {
  session: Session | null;
  /** No settings: the transaction has its identity before any statement of a plan. */
  pgSettings: null;
  withPgClient: WithPgClient;
  /**
   * Runs a generated query in the request's transaction, within its time.
   *
   * @param name of the procedure, for example `notes.history`
   * @returns null for a row that the caller does not see
   * @throws SvcError as the procedure
   */
  read(name: string, input: unknown): Promise<object | null>;
  /**
   * Runs a generated mutation in the request's transaction.
   *
   * @param name of the procedure, for example `notes.create`
   * @returns the id of its row
   * @throws SvcError as the procedure
   */
  write(name: string, input: unknown): Promise<string | number>;
}

/** A member of the context, for a plan. */
export const fromContext = <K extends keyof RequestContext>(key: K) =>
  (context() as unknown as { get(key: K): Step<RequestContext[K]> }).get(key);
