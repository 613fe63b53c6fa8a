/**
 * Sessions for what runs without one: a job or a workflow acts as the user who started it, who is looked up when it runs.
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

/** @returns a session of the user, with `sessionId` for its id; null when there is no such user any more */
export type SessionOfUser = (userId: string, sessionId: string) => Promise<Session | null>;

/** @param pool the system's */
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
