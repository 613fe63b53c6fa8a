/**
 * What a user sees: every statement runs in a request transaction with the user's role and identity, as a call of the
 * service does. No session or token is made. Named operator functions (sql/studio/) run in the same transaction, and
 * its snapshot, as the login.
 * Next hop: `src/postgres/transaction.ts`.
 */
import pg from "pg";
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import { identityOfUser } from "../postgres/identity.ts";
import { RequestTransaction } from "../postgres/transaction.ts";

/** In milliseconds; of statements as a viewer. */
export const limits = { statementTimeoutMs: 3_000, idleInTransactionMs: 10_000 };

/** The description is for coding agents. */
export const viewer = z
  .string()
  .max(200)
  .nullable()
  .describe("The id of a user; null is a visitor without an account.");
export type Viewer = z.output<typeof viewer>;

/** @throws SvcError for the page; PostgreSQL's own message, because the operator chose the statement's parts */
export async function viewAs<T>(
  pool: pg.Pool,
  viewer: Viewer,
  work: (transaction: RequestTransaction) => Promise<T>,
): Promise<T> {
  const transaction = new RequestTransaction(pool, identityOfUser(viewer), "read", limits);
  try {
    const result = await work(transaction);
    await transaction.commit();
    return result;
  } catch (error) {
    await transaction.rollback();
    if ((error as pg.DatabaseError).code !== "57014") throw explained(error);
    throw new SvcError("TIMEOUT", `The statement took longer than ${limits.statementTimeoutMs / 1000} s.`, {
      hint: "Filter by a column that has an index, or view as a user who sees more of the rows.",
    });
  }
}

export function explained(error: unknown): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  if (error.code === "57014") {
    return new SvcError("TIMEOUT", "The database took too long. Nothing was changed.", {
      hint: "Another transaction may hold a lock that it needs. Try again later.",
    });
  }
  if (error.code === "P0002") return new SvcError("CONFLICT", `${error.message}.`, { cause: error, hint: error.hint });
  // The schema, or a function of a newer svc.
  if (["3F000", "42883"].includes(error.code ?? "") && error.message.includes("svc_private")) {
    return new SvcError("UNAVAILABLE", "The database has not been migrated.", {
      cause: error,
      hint: "Run svc migrate.",
    });
  }
  const denied = error.code === "42501";
  return new SvcError(denied ? "FORBIDDEN" : "BAD_REQUEST", `PostgreSQL refuses it: ${error.message}.`, {
    cause: error,
    hint: error.hint,
  });
}
