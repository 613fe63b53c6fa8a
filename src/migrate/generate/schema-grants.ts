/**
 * The privileges that declared policies need, and the statements between two sets of privileges. A policy selects rows;
 * without a grant PostgreSQL does not evaluate it. An update never writes ids, owners and creation times, so its column
 * list omits them, as generated CRUD does (`src/crud/crud-sql.ts`). An insert may name every column: Drizzle's does,
 * with DEFAULT for missing values, and PostgreSQL requires the privilege for these too. Sequences need no grant:
 * identity columns take their numbers without one (`schema-identities.ts`).
 */
import type { PgTable } from "drizzle-orm/pg-core";
import { describeColumns } from "../../crud/columns.ts";
import { list, qualified } from "../../postgres/schema-names.ts";
import type { ColumnRef, Policy, Privileges, Snapshot, Table, View } from "./snapshot.ts";

const requestRoles = ["svc_anonymous", "svc_authenticated"];
const none: Privileges = { select: false, delete: false, insert: [], update: [] };

/** What a table's permissive policies allow, as privileges by role. */
export function tableGrants(declared: PgTable, table: Table): Record<string, Privileges> {
  const described = describeColumns(declared);
  const named = (property: string) => described.filter((column) => column.property === property);
  const writable = described.filter((column) => !column.managed);
  const names = (columns: typeof described) => (columns.length > 0 ? columns : named("id")).map(({ name }) => name);
  const columns = { insert: described.map(({ name }) => name), update: names([...writable, ...named("updatedAt")]) };

  const grants: Record<string, Privileges> = {};
  for (const policy of Object.values(table.policies)) {
    if (policy.as === "RESTRICTIVE") continue; // only restricts rows
    for (const role of rolesOf(policy)) {
      grants[role] ??= { ...none };
      const verb = (policy.for ?? "ALL").toLowerCase();
      if (verb === "all" || verb === "select") grants[role].select = true;
      if (verb === "all" || verb === "delete") grants[role].delete = true;
      if (verb === "all" || verb === "insert") grants[role].insert = columns.insert;
      if (verb === "all" || verb === "update") grants[role].update = columns.update;
    }
  }
  return grants;
}

/** Both request roles may read a security_invoker view, since it adds no rights. Other views would show every row. */
export function viewGrants(view: View): Record<string, Privileges> {
  if (view.materialized || !view.with?.securityInvoker) return {};
  return Object.fromEntries(requestRoles.map((role) => [role, { ...none, select: true }]));
}

/** A policy for public applies to all request roles. */
function rolesOf({ to = ["public"] }: Policy): string[] {
  return [...new Set(to.flatMap((role) => (role === "public" ? requestRoles : role)))];
}

/**
 * The statements between two sets of grants.
 *
 * @param before  with the new names
 * @param renewed     views that are dropped and recreated, and so lose their grants
 * @param regenerated columns likewise
 */
export function diffGrants(
  before: Snapshot,
  after: Snapshot,
  renewed: ReadonlySet<string>,
  regenerated: readonly ColumnRef[],
) {
  const revokes: string[] = [];
  const grants: string[] = [];
  for (const key of new Set([...Object.keys(before.svc.grants), ...Object.keys(after.svc.grants)])) {
    const anew = regenerated.flatMap((one) => (one.key === key ? one.column : []));
    const had = renewed.has(key) ? {} : minus(before.svc.grants[key] ?? {}, {}, (column) => !anew.includes(column));
    const wants = after.svc.grants[key] ?? {};
    grants.push(...statements("grant", "to", key, minus(wants, had)));
    // Dropped columns and tables lose their privileges by themselves.
    const remains = (column: string) => column in (after.tables[key]?.columns ?? {});
    if (key in after.svc.grants) revokes.push(...statements("revoke", "from", key, minus(had, wants, remains)));
  }
  return { revokes, grants };
}

/** The privileges of the first that the second lacks. @param remains of columns. (Default: all) */
function minus(
  these: Record<string, Privileges>,
  those: Record<string, Privileges>,
  remains = (_column: string) => true,
): Record<string, Privileges> {
  const rest = (own: string[], other: string[]) => own.filter((name) => !other.includes(name) && remains(name));
  return Object.fromEntries(
    Object.entries(these).map(([role, own]) => {
      const other = those[role] ?? none;
      const [insert, update] = [rest(own.insert, other.insert), rest(own.update, other.update)];
      return [role, { select: own.select && !other.select, delete: own.delete && !other.delete, insert, update }];
    }),
  );
}

/** One statement per privilege, for all roles that share it. */
function statements(command: string, preposition: string, key: string, access: Record<string, Privileges>): string[] {
  const roles = new Map<string, string[]>();
  for (const [role, privileges] of Object.entries(access)) {
    for (const what of phrases(key, privileges)) roles.set(what, [...(roles.get(what) ?? []), role]);
  }
  return [...roles].map(([what, names]) => wrap(`${command} ${what} ${preposition} ${list(names)};`));
}

/** Wraps long column lists. */
const wrap = (statement: string) =>
  statement.replace(/(.{1,112}[,)]) (?=.{8})/g, (part, line) => (statement.length > 120 ? `${line}\n  ` : part));

function phrases(key: string, { select, delete: remove, insert, update }: Privileges): string[] {
  const table = qualified(key);
  const whole = [...(select ? ["select"] : []), ...(remove ? ["delete"] : [])];
  return [
    ...(whole.length > 0 ? [`${whole.join(", ")} on ${table}`] : []),
    ...(insert.length > 0 ? [`insert (${list(insert)}) on ${table}`] : []),
    ...(update.length > 0 ? [`update (${list(update)}) on ${table}`] : []),
  ];
}
