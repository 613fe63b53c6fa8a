/**
 * Builds sessions for jobs and workflows, which act as the user who started them. The user is looked up at run time.
 * Next hop: `sql/auth/find_user.sql`.
 */
import type pg from "pg";
import type { AuthDefinition } from "../../contract/auth.ts";
import type { Session } from "../../kit/session.ts";
import { columnOf, readFields } from "../user-fields.ts";

interface Row {
  email: string;
  name: string;
  fields: Record<string, unknown>;
}

/** @returns a session of the user with id `sessionId`; null when the user no longer exists */
export type SessionOfUser = (userId: string, sessionId: string) => Promise<Session | null>;

/** @param pool the system pool */
export function sessionsOfUsers(pool: pg.Pool, definition: AuthDefinition): SessionOfUser {
  const declared = definition.user?.additionalFields ?? {};
  return async (userId, sessionId) => {
    const { rows } = await pool.query<Row>({
      name: "svc_find_user",
      text: "select email, name, fields from auth.find_user($1)",
      values: [userId],
    });
    const [row] = rows;
    if (!row) return null;
    const fields = readFields(declared, row.fields, columnOf);
    return { id: sessionId, user: { ...fields, id: userId, email: row.email, name: row.name } };
  };
}
