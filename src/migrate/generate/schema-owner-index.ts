/**
 * Adds an index to every table with ownerRls: (owner, created_at desc, id desc), as far as the columns exist. It serves
 * generated CRUD's default list and the policies' comparison. Columns of further readers get one each. A table with orgRls
 * gets the same with its organization, for lists that filter by it; it gives no order across several. A table with memberRls
 * gets an index on the team, for the policies: more columns would rebuild the indexes of existing applications.
 */
import { getTableColumns } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { derivedName } from "../../postgres/schema-names.ts";
import type { Index, Table } from "./snapshot.ts";

const plain = { isUnique: false, concurrently: false, method: "btree", with: {} };

/** Adds the index to the snapshot of a table, unless a declared index begins with the same columns. */
export function addOwnerIndex(declared: PgTable, table: Table): void {
  addTeamIndex(table);
  const org = comparedColumn(table.policies.select_org?.using, isTeam);
  if (org) addNewest(declared, table, org, org);
  const owner = ownerColumn(table);
  if (owner) addNewest(declared, table, owner, "owner_newest");
  for (const reader of readerColumns(table).slice(1)) addNewest(declared, table, reader, `${reader}_newest`);
}

function addNewest(declared: PgTable, table: Table, owner: string, suffix: string): void {
  const { id, createdAt } = getTableColumns(declared);
  // Without createdAt, an index or key that begins with the owner suffices for the policies.
  if ((!createdAt || !id) && isFirst(table, owner)) return;

  const order = [createdAt, id].flatMap((column) => (column ? [descending(column.name)] : []));
  const columns = [ascending(owner), ...order];
  if (Object.values(table.indexes).some((index) => beginsWith(index, columns))) return;
  const name = derivedName(table.name, null, suffix);
  table.indexes[name] = { name, columns, ...plain };
}

function addTeamIndex(table: Table): void {
  const team = comparedColumn(table.policies.select_member?.using, isTeam);
  if (!team || isFirst(table, team)) return;
  const name = derivedName(table.name, null, team);
  table.indexes[name] = { name, columns: [ascending(team)], ...plain };
}

/**
 * The column that ownerRls compares with the caller. Where everybody reads, only the policies for writing compare it;
 * where nobody writes, only the one for reading.
 */
function ownerColumn({ policies }: Table): string | undefined {
  const condition = policies.insert_owner?.withCheck ?? policies.select_owner?.using;
  return comparedColumn(condition, isCaller);
}

const isTeam = "any \\(array\\(select ";
const isCaller = "\\(select svc\\.current_user_id\\(\\)\\)";

/** Those that ownerRls lets read, the owner first. */
const readerColumns = ({ policies }: Table): string[] =>
  (policies.select_owner?.using ?? "").split(" or ").flatMap((part) => comparedColumn(part, isCaller) ?? []);

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

/** `order by … desc` puts nulls first, and an index with nulls last cannot serve it, even without nulls. */
const descending = (expression: string): Part => ({ expression, isExpression: false, asc: false, nulls: "first" });

function beginsWith(index: Index, columns: readonly Part[]): boolean {
  if (index.method !== "btree" || index.where !== undefined) return false;
  return columns.every((wanted, position) => {
    const part = index.columns[position];
    return part?.expression === wanted.expression && part.asc === wanted.asc && part.nulls === wanted.nulls;
  });
}
