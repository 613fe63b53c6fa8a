/**
 * Reads the session of an act on an account from the database. A process hears of the end of a session some moments later, and
 * somebody who had stolen it would take the account back meanwhile.
 */
import { getCurrentAdapter } from "@better-auth/core/context";
import type { Session } from "../../kit/session.ts";
import { SvcError } from "../../kit/svc-error.ts";
import type { Library } from "../library-types.ts";

export interface PresentSession {
  createdAt: Date;
  expiresAt: Date;
  /** A column of the `admin` plugin: the administrator who acts as the user. */
  impersonatedBy?: string | null;
}

/**
 * In a transaction that has locked the user's row, it sees the sessions that a new password has ended.
 *
 * @throws SvcError UNAUTHORIZED when the session has ended
 */
export async function presentSession(
  { context: { adapter } }: Pick<Library, "context">,
  { id, userId }: { id: string; userId: string },
): Promise<PresentSession> {
  const where = [
    { field: "id", value: id },
    { field: "userId", value: userId },
  ];
  const row = await (await getCurrentAdapter(adapter)).findOne<PresentSession>({ model: "session", where });
  if (row && row.expiresAt.getTime() > Date.now()) return row;
  throw new SvcError("UNAUTHORIZED", "The session has ended. Sign in again.");
}

/**
 * Refuses an administrator who acts as the user: what this changes would outlive the visit.
 *
 * @throws SvcError FORBIDDEN, and as `presentSession`
 */
export async function requireOwner(library: Pick<Library, "context">, { id, user }: Session): Promise<void> {
  const { impersonatedBy } = await presentSession(library, { id, userId: user.id });
  if (!impersonatedBy) return;
  throw new SvcError("FORBIDDEN", "An administrator who acts as a user cannot do this for the user.");
}
