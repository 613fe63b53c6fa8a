/**
 * The library's view of our pool. Users that it writes are counted first. What a trigger of the application refuses becomes
 * the library's own kind of refusal. A lost connection becomes an error that callers may see: OUTCOME_UNKNOWN if the
 * statement was COMMIT, because the writes may be saved; else UNAVAILABLE. All other errors pass unchanged.
 * Next hop: `src/postgres/acquire.ts`.
 */
import { APIError } from "better-auth/api";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";
import { errorCodes } from "../kit/error-codes.ts";
import { SvcError } from "../kit/svc-error.ts";
import { acquire } from "../postgres/acquire.ts";
import {
  isConnectionLoss,
  mayHaveRun,
  outcomeUnknown,
  refusalIn,
  sqlState,
  takesNoWrites,
} from "../postgres/errors.ts";
import { readOnlyState } from "../postgres/read-only.ts";
import { askAuthOn } from "./ask-auth.ts";
import { provingUser } from "./unproven-access.ts";

/** Every door writes a user by this statement, also plugins that do not call the library's own functions. */
const writesUser = /^insert into "auth"\."user" /;
const changesUser = /^update "auth"\."user" /;

/** @param newUser counts a user before it is written @throws SvcError RATE_LIMITED */
export const libraryPool = (pool: pg.Pool, newUser: (client: pg.ClientBase) => Promise<void>): PostgresPool => ({
  async connect() {
    const { client, release } = await acquire(pool);
    let isLost = false;
    return {
      async query(sql: string, parameters: unknown[]) {
        // The server rolls back by itself. An error here would hide the original one.
        if (isLost && sql === "rollback") return { command: "ROLLBACK", rowCount: 0, rows: [] };
        try {
          if (writesUser.test(sql)) await newUser(client);
          const proving = provingUser();
          if (proving !== undefined && changesUser.test(sql)) {
            await askAuthOn(client, "auth.remove_api_keys($1, null)", [proving]);
          }
          return await client.query(sql, parameters);
        } catch (cause) {
          isLost = isConnectionLoss(cause);
          throw errorOf(cause, sql);
        }
      },
      release: () => release(isLost),
    } as unknown as PostgresPoolClient; // without cursors, which the library does not use
  },
  end: async () => {}, // who made the pool closes it
});

function errorOf(cause: unknown, sql: string): unknown {
  const refused = refusalIn(cause); // by a trigger of the application, or by our count of new users
  if (refused instanceof SvcError) return refusal(refused);
  const failed = failureOf(cause, sql);
  if (!failed) return cause;
  return writesUser.test(sql) ? refusal(failed) : failed;
}

/** @returns undefined for an error that is neither a lost connection nor a database that takes no writes */
function failureOf(cause: unknown, sql: string): SvcError | undefined {
  if (sqlState(cause) === readOnlyState) return takesNoWrites(cause);
  if (!isConnectionLoss(cause)) return undefined;
  if (sql === "commit" && mayHaveRun(cause)) return outcomeUnknown(cause);
  return new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause });
}

/** As an error of the library: its endpoints answer all others of a new user as failures of their own. */
function refusal(cause: SvcError): APIError {
  const { code, message, retryAfter } = cause;
  const status = errorCodes[code].status as ConstructorParameters<typeof APIError>[0];
  const headers: HeadersInit = retryAfter === undefined ? {} : { "x-retry-after": String(retryAfter) };
  return Object.assign(new APIError(status, { code, message }, headers), { cause });
}
