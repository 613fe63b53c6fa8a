/**
 * The teams whose rows a watched query follows: those of its caller, read as the caller after the answer. A membership that
 * changes between the two changes a table that the query has read too, so the client asks again.
 * Next hop: `sql/realtime/caller_teams.sql`.
 */
import type pg from "pg";
import type { Caller } from "../contract/caller.ts";
import type { TeamScope } from "../crud/rls.ts";
import { callAs } from "../crud/statement.ts";
import { identityOf } from "../postgres/identity.ts";

/** By `scopeKey`. */
export type CallerTeams = Readonly<Record<string, readonly string[]>>;

/** Of one user, in one table of memberships. */
const maxTeams = 100;

/** Names a table of memberships, and its columns that count. */
export const scopeKey = ({ schema, table, team, user }: TeamScope) => `${schema}.${table}.${team}.${user}`;

/** @returns nothing for those who have too many teams: they follow the tables as a whole */
export async function callerTeams(pool: pg.Pool, caller: Caller, scopes: readonly TeamScope[]): Promise<CallerTeams> {
  if (scopes.length === 0) return {};
  // Rows of teams are shown to no one who is not signed in.
  if (!caller.session) return Object.fromEntries(scopes.map((scope) => [scopeKey(scope), []]));
  const asked = scopes.map(({ column: _, ...scope }) => scope);
  const text = await callAs(pool, identityOf(caller), "svc.caller_teams($3)", [JSON.stringify(asked)]);
  const lists: string[][] = JSON.parse(text ?? "[]");
  const known = scopes.flatMap((scope, at) => {
    const teams = lists[at];
    return teams && teams.length <= maxTeams ? [[scopeKey(scope), teams] as const] : [];
  });
  return Object.fromEntries(known);
}
