/**
 * What an API key may call. Code may do anything in the user's name, so a key needs the scope that the procedure or route
 * names; without one only "*" opens it. A generated operation is one statement, and its table's policies decide by
 * svc.has_scope(); what `scoped()` declares is told here, before a hook runs.
 */
import type { ApiKey } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { CrudDefinition } from "./crud.ts";

/** A procedure, a route, or a resource. */
export interface Callable {
  anonymous: boolean;
  /** null: it was asked for before. */
  scope?: string | null | undefined;
  kind?: string;
  /** Of a generated operation. */
  crud?: CrudDefinition | undefined;
}

/** @throws SvcError FORBIDDEN @param wanted null: the policies decide */
export function requireOneOf({ scopes }: ApiKey, wanted: readonly string[] | null): void {
  if (wanted === null || scopes.includes("*") || wanted.some((scope) => scopes.includes(scope))) return;
  const [first] = wanted;
  throw new SvcError("FORBIDDEN", "This API key may not do this.", {
    hint: first
      ? `It takes a key with the scope "${wanted.join('" or "')}".`
      : 'Only keys with the scope "*" may. The author can open it to others: .scope("…") on the procedure or route.',
  });
}

/** The scopes of which a key needs one; null where the policies alone know. */
export function scopesOf({ scope, kind, crud }: Omit<Callable, "anonymous">): readonly string[] | null {
  if (crud) return crud.scopes?.[kind === "query" ? "read" : "write"] ?? null;
  return scope === null ? null : scope === undefined ? [] : [scope];
}
