/** The access mode and time limits of a request transaction, and the fallback server if a standby fails it. */
import type pg from "pg";
import { SvcError } from "../kit/svc-error.ts";

export type Access = "read" | "write";

/** @throws SvcError QUERY_WROTE in a query and a GET route @param act what they cannot do, for the author's hint */
export function requireWrite(access: Access, act: string): void {
  if (access === "write") return;
  const hint = `Queries and GET routes cannot ${act}, because they may run again. Make it a mutation, or a route with another verb.`;
  throw new SvcError("QUERY_WROTE", undefined, { hint });
}

export interface TransactionLimits {
  /** In milliseconds. */
  statementTimeoutMs: number;
  /** In milliseconds. */
  idleInTransactionMs: number;
}

/**
 * Another server for a read transaction, such as the primary behind a standby. If the first statement fails on the
 * standby, the transaction restarts there: the handler has seen no result yet that could contradict the answer.
 */
export interface Fallback {
  pool: pg.Pool;
  /** Whether the other server may succeed. */
  helps(error: SvcError): boolean;
  /** Called when a transaction moves to the other server. */
  moved(): void;
}
