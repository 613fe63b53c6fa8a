/**
 * Refuses to serve API keys where a key could do what nobody meant: a table whose policies ask for no scope, a view of svc's
 * own tables that asks for none, and a scope in a policy that is not declared. A service asks when it starts, if `defineAuth` has
 * `apiKeys`; `src/app/check-scope-names.ts` has compared what the code names.
 * Next hop: `sql/auth/list_scope_conditions.sql` and `list_scope_mistakes.sql` read the policies.
 */
import type pg from "pg";
import { openToKeys } from "../../contract/asks-for-scope.ts";
import type { LoadedApp } from "../../contract/loaded-app.ts";
import { undeclaredScope } from "../../crud/scoped.ts";
import { DefinitionError } from "../../kit/definition-error.ts";
import { askAuth } from "../ask-auth.ts";

/** @throws DefinitionError that names the first mistake and its remedy; SvcError UNAVAILABLE without the database */
export async function checkScopes(pool: pg.Pool, auth: LoadedApp["auth"]): Promise<void> {
  if (!auth.apiKeys) return;
  const { scopes } = auth.apiKeys;
  const what = "* from auth.list_scope_mistakes($1)";
  const mistakes = await askAuth<{ relation: string; scope: string | null }>(pool, what, [scopes]);
  const wrong = mistakes.find(({ scope }) => scope !== null);
  if (wrong?.scope) throw undeclaredScope(wrong.scope, scopes, `A policy of ${wrong.relation}`);
  const open = [
    ...openToKeys(await askAuth(pool, "* from auth.list_scope_conditions()")),
    ...mistakes.map((one) => one.relation),
  ];
  const [first] = open;
  if (!first) return;
  throw new DefinitionError(
    `An API key could do all that its user may in ${open.join(", ")}: no policy asks for a scope.`,
    {
      hint:
        "Run svc migrate generate and svc migrate: they close these tables to keys. scoped({ read: …, write: … }) beside " +
        `ownerRls opens one. Policies in SQL close ${first} by a restrictive one that asks svc.has_scope('*'). ` +
        "A view of svc's own tables asks (select svc.has_scope('…')) in its condition.",
    },
  );
}
