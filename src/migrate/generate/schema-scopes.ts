/**
 * Closes tables to API keys: a key acts as its user, so what a table's policies allow without asking for a scope would be
 * open to every key. If `defineAuth` has `apiKeys`, such commands get a policy that only keys with "*" pass.
 * Next hop: `sql/session/has_scope.sql`; `src/auth/api-keys/check-scopes.ts` compares the database when a service starts.
 */
import { openToKeys } from "../../contract/asks-for-scope.ts";
import type { Policy, Table } from "./snapshot.ts";

const commands = ["SELECT", "INSERT", "UPDATE", "DELETE"] as const;

type Command = (typeof commands)[number];

/** Adds the policies, as far as no other ones ask for a scope. */
export function closeToKeys(table: Table): void {
  const open = commands.filter((command) => isOpen(Object.values(table.policies), command));
  const all = open.length === commands.length;
  for (const command of all ? (["ALL"] as const) : open) {
    const name = all ? "closed_to_keys" : `closed_to_keys_${command.toLowerCase()}`;
    const closed = "(select svc.has_scope('*'))";
    table.policies[name] = {
      name,
      as: "RESTRICTIVE",
      for: command,
      to: ["svc_authenticated"],
      ...(command === "INSERT" ? { withCheck: closed } : { using: closed }),
    };
  }
}

/** Whether a policy admits signed-in users without a scope, and no restrictive one asks for it. */
function isOpen(policies: readonly Policy[], command: Command): boolean {
  const applying = policies.filter(
    ({ for: verb = "ALL", to = ["public"] }) =>
      (verb === "ALL" || verb === command) && (to.includes("public") || to.includes("svc_authenticated")),
  );
  return openToKeys(applying.map((policy) => conditionsOf(policy, command))).size > 0;
}

/** What PostgreSQL checks for the command: USING for rows that are there, WITH CHECK for new ones. */
function conditionsOf({ as, using = "", withCheck }: Policy, command: Command) {
  const checked = { SELECT: [using], DELETE: [using], INSERT: [withCheck ?? using], UPDATE: [using, withCheck ?? ""] };
  return { relation: "", command, permissive: as !== "RESTRICTIVE", conditions: checked[command] };
}
