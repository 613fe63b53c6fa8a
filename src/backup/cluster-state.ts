/**
 * Recreates as SQL what a dump omits: roles, and privileges on and settings of the database.
 * Next hop: `sql/backup/describe_surroundings.sql` found it, `restore.ts` runs this before the dump.
 */
import pg from "pg";
import type { ClusterState } from "./manifest.ts";

const { escapeIdentifier: name, escapeLiteral: literal } = pg;

/** Settings whose value is a list, stored in SQL form. */
const lists = ["search_path", "temp_tablespaces", "local_preload_libraries", "session_preload_libraries"];

/** Creates roles that the target lacks, without passwords: the operator sets those by `alter role … password`. */
export function createRoles({ roles }: ClusterState, there: readonly string[]): string[] {
  const missing = roles.filter((role) => !there.includes(role.name));
  const made = missing.map(
    (role) =>
      `create role ${name(role.name)} ${role.login ? "login" : "nologin"}${role.inherit ? "" : " noinherit"}` +
      `${role.bypassrls ? " bypassrls" : ""}${role.replication ? " replication" : ""}`,
  );
  const granted = missing.flatMap((role) => role.memberOf.map((group) => `grant ${name(group)} to ${name(role.name)}`));
  return [...made, ...granted];
}

/** Privileges and settings of the target database. */
export function furnishDatabase({ privileges, settings }: ClusterState, database: string): string[] {
  const here = `database ${name(database)}`;
  const grantee = (role: string) => (role === "public" ? "public" : name(role));
  return [
    `revoke all on ${here} from public`,
    ...privileges.map(({ to, privilege }) => `grant ${privilege} on ${here} to ${grantee(to)}`),
    ...settings.map(({ role, setting }) => {
      const [key = "", ...rest] = setting.split("=");
      const value = lists.includes(key) ? rest.join("=") : literal(rest.join("="));
      return `alter ${role ? `role ${name(role)} in ${here}` : here} set ${key} to ${value || "''"}`;
    }),
  ];
}
