/** Compares the roles that policies name with those that `auth.ts` declares: a misspelt role would shut members out. */
import { type AuthDefinition, defaultRoles } from "../contract/auth.ts";
import { namesPassedTo } from "../crud/policy-names.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { didYouMean } from "../kit/nearest.ts";

/** @throws DefinitionError when auth.ts declares no organizations, or not that role */
export function checkOrganizations({
  auth,
  schema,
}: {
  auth: AuthDefinition;
  schema: Readonly<Record<string, unknown>>;
}): void {
  for (const { table, names } of namesPassedTo("my_orgs", schema)) checkRoles(table, names, auth);
}

function checkRoles(table: string, roles: readonly string[], { organizations }: AuthDefinition): void {
  if (!organizations) {
    throw new DefinitionError(`Table "${table}" has policies of organizations, and auth.ts declares none.`, {
      hint: "Write defineAuth({ organizations: true }) in auth.ts.",
    });
  }
  const declared = (organizations !== true && organizations.roles) || defaultRoles;
  const unknown = roles.find((role) => !declared.some((one) => one === role));
  if (unknown === undefined) return;
  throw new DefinitionError(
    `A policy of table "${table}" names the role "${unknown}", which auth.ts does not declare.`,
    {
      hint: `${didYouMean(unknown, declared)} A new role is declared there: organizations: { roles: ["owner", …] }.`,
    },
  );
}
