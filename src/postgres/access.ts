/** What a request transaction may do, for how long, and where it begins again when a standby fails it. */
import type pg from "pg";
import type { SvcError } from "../kit/svc-error.ts";

export type Access = "read" | "write";

export interface TransactionLimits {
  /** In milliseconds. */
  statementTimeoutMs: number;
  /** In milliseconds. */
  idleInTransactionMs: number;
}

/**
 * Another server for a transaction that reads, such as the primary behind a standby. The transaction begins again there when
 * its first statement failed here: until then its handler has seen nothing that could contradict the answer.
 */
export interface Fallback {
  pool: pg.Pool;
  /** Whether the other server may know better. */
  helps(error: SvcError): boolean;
  /** Called when a transaction moves there. */
  moved(): void;
}
