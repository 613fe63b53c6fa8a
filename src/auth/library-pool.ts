/**
 * The library's view of our pool. A lost connection becomes an error that callers may see: OUTCOME_UNKNOWN if the
 * statement was COMMIT, because the writes may be saved; else UNAVAILABLE. All other errors pass unchanged.
 * Next hop: `src/postgres/acquire.ts`.
 */
import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";
import { SvcError } from "../kit/svc-error.ts";
import { acquire } from "../postgres/acquire.ts";
import { isConnectionLoss, leavesDoubt, outcomeUnknown, sqlState, takesNoWrites } from "../postgres/errors.ts";
import { readOnlyState } from "../postgres/read-only.ts";

export const libraryPool = (pool: pg.Pool): PostgresPool => ({
  async connect() {
    const { client, release } = await acquire(pool);
    let isLost = false;
    return {
      async query(sql: string, parameters: unknown[]) {
        // The server rolls back by itself. An error here would hide the original one.
        if (isLost && sql === "rollback") return { command: "ROLLBACK", rowCount: 0, rows: [] };
        try {
          return await client.query(sql, parameters);
        } catch (cause) {
          if (sqlState(cause) === readOnlyState) throw takesNoWrites(cause);
          isLost = isConnectionLoss(cause);
          if (!isLost) throw cause;
          if (sql === "commit" && leavesDoubt(cause)) throw outcomeUnknown(cause);
          throw new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause });
        }
      },
      release: () => release(isLost),
    } as unknown as PostgresPoolClient; // without cursors, which the library does not use
  },
  end: async () => {}, // who made the pool closes it
});
