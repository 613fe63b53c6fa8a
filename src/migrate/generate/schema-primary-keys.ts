/** Changed primary keys. drizzle-kit does not know the old key's name, and writes a comment instead of a statement. */
import { derivedName, list, qualified, quote } from "../../postgres/schema-names.ts";
import type { Snapshot, Table } from "./snapshot.ts";

interface PrimaryKey {
  /** Null where PostgreSQL chooses it. */
  name: string | null;
  columns: string[];
}

/** Removes the changed keys from both snapshots, and returns the statements that change them. */
export function takePrimaryKeys(from: Snapshot, to: Snapshot): { drop: string[]; add: string[] } {
  const drop: string[] = [];
  const add: string[] = [];
  for (const [key, table] of Object.entries(from.tables)) {
    const wanted = to.tables[key];
    if (!wanted) continue;
    const [old, next] = [primaryKey(table), primaryKey(wanted)];
    if (JSON.stringify(old) === JSON.stringify(next)) continue;

    const alter = `alter table ${qualified(key)}`;
    const name = old && quote(old.name ?? derivedName(table.name, null, "pkey"));
    if (old) drop.push(`${alter} drop constraint ${name};`);
    if (next)
      add.push(
        `${alter} add ${next.name ? `constraint ${quote(next.name)} ` : ""}primary key (${list(next.columns)});`,
      );
    for (const side of [table, wanted]) clearPrimaryKey(side);
  }
  return { drop, add };
}

export function primaryKey(table: Table): PrimaryKey | null {
  const [composite] = Object.values(table.compositePrimaryKeys);
  if (composite) return { name: composite.name, columns: composite.columns };
  const columns = Object.values(table.columns).filter((column) => column.primaryKey);
  return columns.length > 0 ? { name: null, columns: columns.map(({ name }) => name) } : null;
}

function clearPrimaryKey(table: Table): void {
  table.compositePrimaryKeys = {};
  for (const column of Object.values(table.columns)) column.primaryKey = false;
}
