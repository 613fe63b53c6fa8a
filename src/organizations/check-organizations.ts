/** Compares the roles that policies of `orgRls` name with those that `auth.ts` declares: a misspelt role would shut members out. */
import { getTableName, is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { type AuthDefinition, defaultRoles } from "../contract/auth.ts";
import { rolesNamed } from "../crud/org-rls.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { didYouMean } from "../kit/nearest.ts";
import { tableConfig } from "../kit/table-config.ts";

/** @throws DefinitionError when auth.ts declares no organizations, or not that role */
export function checkOrganizations({
  auth,
  schema,
}: {
  auth: AuthDefinition;
  schema: Readonly<Record<string, unknown>>;
}): void {
  for (const table of Object.values(schema)) {
    if (!is(table, PgTable)) continue;
    const { schema: space, policies } = tableConfig(table);
    const roles = space === "svc" ? undefined : rolesNamed(policies);
    if (roles) checkRoles(getTableName(table), roles, auth);
  }
}

function checkRoles(table: string, roles: readonly string[], { organizations }: AuthDefinition): void {
  if (!organizations) {
    throw new DefinitionError(`Table "${table}" has orgRls, but auth.ts declares no organizations.`, {
      hint: "Write defineAuth({ organizations: true }) in auth.ts.",
    });
  }
  const declared = (organizations !== true && organizations.roles) || defaultRoles;
  const unknown = roles.find((role) => !declared.some((one) => one === role));
  if (unknown === undefined) return;
  throw new DefinitionError(`orgRls of table "${table}" names the role "${unknown}", which auth.ts does not declare.`, {
    hint: `${didYouMean(unknown, declared)} A new role is declared there: organizations: { roles: ["owner", …] }.`,
  });
}
