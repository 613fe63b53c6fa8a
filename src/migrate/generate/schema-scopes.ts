/**
 * Closes tables to API keys: a key acts as its user, so what a table's policies allow without asking for a scope would be
 * open to every key. If `defineAuth` has `apiKeys`, such commands get a policy that only keys with "*" pass.
 * Next hop: `sql/session/has_scope.sql`; `src/auth/api-keys/check-scopes.ts` compares the database when a service starts.
 */
import { asksForScope } from "../../contract/asks-for-scope.ts";
import type { Policy, Table } from "./snapshot.ts";

const commands = ["SELECT", "INSERT", "UPDATE", "DELETE"] as const;

type Command = (typeof commands)[number];

/** Whether what PostgreSQL checks for the command asks for a scope: USING for rows that are there, WITH CHECK for new ones. */
function asks({ using = "", withCheck }: Policy, command: Command): boolean {
  const both = asksForScope(using) || asksForScope(withCheck ?? "");
  return command === "UPDATE" ? both : asksForScope(command === "INSERT" ? (withCheck ?? using) : using);
}

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
  const isRestrictive = ({ as }: Policy) => as === "RESTRICTIVE";
  return (
    applying.some((policy) => !isRestrictive(policy) && !asks(policy, command)) &&
    !applying.some((policy) => isRestrictive(policy) && asks(policy, command))
  );
}
