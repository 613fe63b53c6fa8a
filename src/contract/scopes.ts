/**
 * What an API key may call. Code may do anything in the user's name, so a key needs the scope that the procedure or route
 * names; without one only "*" opens it. A generated operation is one statement, and its table's policies decide by
 * svc.has_scope(); what `scoped()` declares is told here, before a hook runs.
 */

import type { ApiKey } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { CrudDefinition, CrudStatement } from "./crud.ts";

/** A procedure or a route. */
export interface Scoped {
  scope?: string | undefined;
  kind?: string;
  statement?: CrudStatement;
  crud?: CrudDefinition;
}

const holds = ({ scopes }: ApiKey, wanted: readonly string[]): boolean =>
  scopes.includes("*") || wanted.some((scope) => scopes.includes(scope));

/** Callers ask for the key first: nearly all calls have none. @throws SvcError FORBIDDEN for a key without the scope */
export const requireScope = (key: ApiKey, definition: Scoped): void => requireOneOf(key, scopesOf(definition));

/** @throws SvcError FORBIDDEN @param wanted null: the policies decide */
export function requireOneOf(key: ApiKey, wanted: readonly string[] | null): void {
  if (wanted === null || holds(key, wanted)) return;
  const [first] = wanted;
  throw new SvcError("FORBIDDEN", "This API key may not do this.", {
    hint: first
      ? `It takes a key with the scope "${wanted.join('" or "')}".`
      : 'Only keys with the scope "*" may. The author can open it to others: .scope("…") on the procedure or route.',
  });
}

/** The scopes of which a key needs one; null where the policies alone know. */
export function scopesOf({ scope, kind, statement, crud }: Scoped): readonly string[] | null {
  if (!statement) return scope === undefined ? [] : [scope];
  return crud?.scopes?.[kind === "query" ? "read" : "write"] ?? null;
}
