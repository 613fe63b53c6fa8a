/** The one row that a handler needs, or the error without it. */
import type { ErrorCode } from "./error-codes.ts";
import { SvcError } from "./svc-error.ts";

/**
 * The first of the rows that a statement returned.
 *
 * @param code of the error without one. (Default: NOT_FOUND)
 * @throws SvcError with that code
 * @example
 * const note = requireRow(await context.db.select().from(notes).where(eq(notes.slug, slug)));
 */
export function requireRow<Row>(rows: readonly Row[], code: ErrorCode = "NOT_FOUND"): Row {
  if (rows.length === 0) throw new SvcError(code);
  return rows[0] as Row;
}
