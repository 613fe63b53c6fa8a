/**
 * Compares the scopes that procedures, routes and policies of the schema name with those that `auth.ts` declares: a misspelt
 * one would close them to every API key.
 * Next hop: `src/auth/api-keys/check-scopes.ts` reads the policies of the database, when a service starts.
 */
import type { LoadedApp } from "../contract/loaded-app.ts";
import { namesPassedTo } from "../crud/policy-names.ts";
import { undeclaredScope } from "../crud/scoped.ts";

/** @throws DefinitionError for a scope that `apiKeys.scopes` does not name; without `apiKeys` there are no keys */
export function checkScopeNames({ auth, schema, api }: Omit<LoadedApp, "api"> & Partial<Pick<LoadedApp, "api">>): void {
  if (!auth.apiKeys) return;
  const { scopes } = auth.apiKeys;
  const { procedures, routes } = api?.["~svc"] ?? { procedures: new Map(), routes: [] };
  for (const { scope, ...its } of [...procedures.values(), ...routes]) {
    if (scope === undefined || scopes.includes(scope)) continue;
    throw undeclaredScope(scope, scopes, "name" in its ? `The procedure "${its.name}"` : `The route ${its.path}`);
  }
  for (const { table, names } of namesPassedTo("has_scope", schema)) {
    const unknown = names.find((name) => name !== "*" && !scopes.includes(name));
    if (unknown !== undefined) throw undeclaredScope(unknown, scopes, `A policy of table "${table}"`);
  }
}
