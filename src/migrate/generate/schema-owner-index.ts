/**
 * The index that every table with ownerRls gets: (owner, created_at desc, id desc), or what the table has of it. It serves
 * the list that generated CRUD shows, newest first, and the comparison in the policies. A table with memberRls gets one
 * on the team, for the policies; rows of several teams come in no order from it.
 */
import { getTableColumns } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { derivedName } from "../../postgres/schema-names.ts";
import type { Index, Table } from "./snapshot.ts";

const plain = { isUnique: false, concurrently: false, method: "btree", with: {} };

/** Adds the index to the snapshot of a table, unless one that begins so is declared. */
export function addOwnerIndex(declared: PgTable, table: Table): void {
  addTeamIndex(table);
  const { id, createdAt } = getTableColumns(declared);
  const owner = ownerColumn(table);
  if (!owner) return;
  // Without a time there is little to sort: any index or key that begins with the owner serves the policies.
  if ((!createdAt || !id) && isFirst(table, owner)) return;

  const order = [createdAt, id].flatMap((column) => (column ? [descending(column.name)] : []));
  const columns = [ascending(owner), ...order];
  if (Object.values(table.indexes).some((index) => beginsWith(index, columns))) return;
  const name = derivedName(table.name, null, "owner_newest");
  table.indexes[name] = { name, columns, ...plain };
}

function addTeamIndex(table: Table): void {
  const team = comparedColumn(table.policies.insert_member?.withCheck, "any \\(array\\(select ");
  if (!team || isFirst(table, team)) return;
  const name = derivedName(table.name, null, team);
  table.indexes[name] = { name, columns: [ascending(team)], ...plain };
}

/** The column that ownerRls compares with the caller, read from the policy that every form of it has. */
const ownerColumn = (table: Table) =>
  comparedColumn(table.policies.insert_owner?.withCheck, "\\(select svc\\.current_user_id\\(\\)\\)");

const comparedColumn = (check: string | undefined, withWhat: string): string | undefined =>
  new RegExp(`^(?:"[^"]+"\\.)?"([^"]+)" = ${withWhat}`).exec(check ?? "")?.[1];

function isFirst(table: Table, column: string): boolean {
  const keys = [...Object.values(table.compositePrimaryKeys), ...Object.values(table.uniqueConstraints)];
  const indexes = Object.values(table.indexes).filter(({ where }) => where === undefined);
  const firsts = [...keys.map(({ columns }) => columns[0]), ...indexes.map(({ columns }) => columns[0]?.expression)];
  return table.columns[column]?.primaryKey === true || firsts.includes(column);
}

type Part = Index["columns"][number];

const ascending = (expression: string): Part => ({ expression, isExpression: false, asc: true, nulls: "last" });

/** `order by … desc` puts nulls first; an index that puts them last does not serve it, whatever the columns hold. */
const descending = (expression: string): Part => ({ expression, isExpression: false, asc: false, nulls: "first" });

function beginsWith(index: Index, columns: readonly Part[]): boolean {
  if (index.method !== "btree" || index.where !== undefined) return false;
  return columns.every((wanted, position) => {
    const part = index.columns[position];
    return part?.expression === wanted.expression && part.asc === wanted.asc && part.nulls === wanted.nulls;
  });
}
