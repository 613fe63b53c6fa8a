/**
 * What a dump leaves out, as SQL: roles, privileges on the database, settings of it.
 * Next hop: `sql/backup/describe_surroundings.sql` found it, `restore.ts` runs this before the dump.
 */
import pg from "pg";
import type { ClusterState } from "./manifest.ts";

const { escapeIdentifier: name, escapeLiteral: literal } = pg;

/** Settings whose value is a list, kept as SQL has it. */
const lists = ["search_path", "temp_tablespaces", "local_preload_libraries", "session_preload_libraries"];

/** Roles that the target lacks. They get no password: `alter role … password` is the operator's. */
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

/** Privileges and settings of the database that is restored into. */
export function furnishDatabase({ privileges, settings }: ClusterState, database: string): string[] {
  const here = `database ${name(database)}`;
  const whom = (role: string) => (role === "public" ? "public" : name(role));
  return [
    `revoke all on ${here} from public`,
    ...privileges.map(({ to, privilege }) => `grant ${privilege} on ${here} to ${whom(to)}`),
    ...settings.map(({ role, setting }) => {
      const [key = "", ...rest] = setting.split("=");
      const value = lists.includes(key) ? rest.join("=") : literal(rest.join("="));
      return `alter ${role ? `role ${name(role)} in ${here}` : here} set ${key} to ${value || "''"}`;
    }),
  ];
}
