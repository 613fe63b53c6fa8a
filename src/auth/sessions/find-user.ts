/**
 * Builds sessions for jobs and workflows, which act as the user who started them. The user is looked up at run time.
 * Next hop: `sql/auth/find_user.sql`.
 */
import type pg from "pg";
import type { AuthDefinition } from "../../contract/auth.ts";
import type { Session } from "../../kit/session.ts";
import { type UserRow, userOf } from "../user-fields.ts";

/**
 * @param found the user, if the caller has just read it
 * @returns a session of the user with id `sessionId`; null when the user no longer exists
 */
export type SessionOfUser = (userId: string, sessionId: string, found?: UserRow | null) => Promise<Session | null>;

/** @param pool the system pool */
export function sessionsOfUsers(pool: pg.Pool, definition: AuthDefinition): SessionOfUser {
  const declared = definition.user?.additionalFields ?? {};
  const find = async (userId: string) => {
    const { rows } = await pool.query<UserRow>({
      name: "svc_find_user",
      text: "select email, name, fields from auth.find_user($1)",
      values: [userId],
    });
    return rows[0];
  };
  return async (userId, sessionId, found) => {
    const row = found ?? (await find(userId));
    return row ? Object.freeze({ id: sessionId, user: userOf(declared, userId, row) }) : null;
  };
}
