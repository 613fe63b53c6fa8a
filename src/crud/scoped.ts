/**
 * Policies by which a table opens to API keys with a scope. They restrict what the table's other policies allow.
 * Next hop: `sql/session/has_scope.sql`.
 */
import type { SQL } from "drizzle-orm";
import { type PgPolicy, pgPolicy } from "drizzle-orm/pg-core";
import { DefinitionError } from "../kit/definition-error.ts";
import { didYouMean } from "../kit/nearest.ts";
import { platformSql } from "../postgres/anonymous-gate.ts";
import { authenticated } from "./rls.ts";

/** The scopes of which a key needs one. */
export interface TableScopes {
  read: readonly string[];
  write: readonly string[];
}

const declared = new WeakMap<PgPolicy, TableScopes>();

/** What `scoped` declares of a table; undefined without it. */
export const scopesOfPolicies = (policies: readonly PgPolicy[]): TableScopes | undefined =>
  policies.map((policy) => declared.get(policy)).find((scopes) => scopes !== undefined);

/**
 * Opens a table to API keys with a scope: beside the policies that say whose rows they are. A key then does there what its
 * user may, and what its scopes name. For everybody else it changes nothing. A table without it is closed to keys.
 *
 * @param options.read  a scope, or several of which a key needs one. Those of `write` read, too: a change finds and returns
 *   rows
 * @param options.write the same for inserts, updates and deletes. (Default: only keys with `"*"` write)
 * @throws DefinitionError without a scope
 * @example
 * export const tickets = pgTable("tickets", { … }, (t) =>
 *   [...ownerRls(t.userId), ...scoped({ read: "tickets:read", write: "tickets:write" })]);
 */
export function scoped(options: { read?: string | readonly string[]; write?: string | readonly string[] }): PgPolicy[] {
  const [reads, write] = [namesOf("read", options.read), namesOf("write", options.write)];
  if (reads.length + write.length === 0) {
    throw new DefinitionError("scoped names no scope.", {
      hint: 'Write scoped({ read: "tickets:read", write: "tickets:write" }), or leave it out: the table is then closed to API keys.',
    });
  }
  const read = [...new Set([...reads, ...write])];
  const [mayRead, mayWrite] = [hasOneOf(read), hasOneOf(write)];
  const restrict = { as: "restrictive", to: authenticated } as const;
  const policies = [
    pgPolicy("select_scope", { ...restrict, for: "select", using: mayRead }),
    pgPolicy("insert_scope", { ...restrict, for: "insert", withCheck: mayWrite }),
    pgPolicy("update_scope", { ...restrict, for: "update", using: mayWrite, withCheck: mayWrite }),
    pgPolicy("delete_scope", { ...restrict, for: "delete", using: mayWrite }),
  ];
  for (const policy of policies) declared.set(policy, { read, write });
  return policies;
}

/** As a sub-select it runs once per statement. */
function hasOneOf(scopes: readonly string[]): SQL {
  const asked = (scopes.length > 0 ? scopes : ["*"]).map((scope) => `svc.has_scope('${scope}')`);
  return platformSql(`(select ${asked.join(" or ")})`);
}

function namesOf(option: string, given: string | readonly string[] | undefined): readonly string[] {
  const names = [given ?? []].flat();
  const wrong = names.find((name) => typeof name !== "string" || !/^(\*|[a-z][a-z0-9_-]*(:[a-z0-9_-]+)*)$/.test(name));
  if (wrong === undefined) return names;
  throw new DefinitionError(`scoped: ${option} is ${JSON.stringify(wrong)}.`, {
    hint: 'Give a scope that apiKeys.scopes of defineAuth names, such as "tickets:read".',
  });
}

/** The error of a scope that `defineAuth` does not declare. @param whose begins the sentence */
export function undeclaredScope(scope: string, declared: readonly string[], whose: string): DefinitionError {
  const message = `${whose} asks for the scope "${scope}", which apiKeys.scopes of defineAuth does not name.`;
  return new DefinitionError(message, { hint: `${didYouMean(scope, declared)} Otherwise add it to the scopes.` });
}
