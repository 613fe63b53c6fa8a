/** The error of a restore that psql has ended, with a remedy, and with what has become of the database. */
import pg from "pg";
import { BackupError } from "./error.ts";

/** What psql prints before and after the commit. */
export const marks = { committing: "svc: committing", committed: "svc: committed" };

/** @param said by psql: one of the marks, when it came that far */
export function explain(error: unknown, { name, login }: { name: string; login: string }, said: string): BackupError {
  const message = error instanceof Error ? error.message : String(error);
  const isOpen = said.includes(marks.committing) && /connection|terminated/.test(message);
  const outcome = isOpen
    ? `The connection was lost during the commit: ${name} is restored, or unchanged. \`svc db stats\` shows its rows; --force restores it again.`
    : "The database is unchanged.";
  return new BackupError(message, { hint: `${remedy(message, login)}${outcome}`, cause: error });
}

function remedy(message: string, login: string): string {
  const name = pg.escapeIdentifier;
  if (/silence_copy\(\) does not exist/.test(message))
    return "The backup is of an older version of svc: restore it elsewhere without --as-copy, run svc migrate, and restore a backup of that. ";
  if (/lock timeout/.test(message)) return "Something holds a table: stop svc start and svc worker. ";
  const [, extension] = /permission denied to create extension "(.+)"/.exec(message) ?? [];
  if (extension) {
    return `Restore into a database in which a superuser has run: create schema if not exists extensions authorization ${name(login)}; create extension ${name(extension)} schema extensions. svc db verify --deep needs a login that may create it. `;
  }
  if (!/must be (member of|able to SET) role/i.test(message)) return "";
  return "Something in the backup belongs to this role: restore as a superuser, or as a member of the role. If it is the schema of an extension, a superuser creates schema and extension in the target first. ";
}
