/**
 * What depends on a column that is converted. PostgreSQL refuses to convert a column that a generated column reads. It
 * keeps the expressions of indexes and checks, and the comparison of a foreign key, as they were for the old type, and
 * then finds no operator for the new one. So all of these are dropped before the conversion and made again after it.
 * Next hop: `schema-tables.ts`, which compares the tables without them.
 */
import { mentions } from "../../postgres/schema-names.ts";
import type { Column, ColumnRef, Index, Snapshot } from "./snapshot.ts";

/** Generated columns that must be made again: new or changed ones, and those that are computed from a converted column. */
export function findRegenerated(start: Snapshot, end: Snapshot, retyped: readonly ColumnRef[]): ColumnRef[] {
  return Object.entries(start.tables).flatMap(([key, { columns }]) => {
    const isFed = (text: string) => retyped.some((one) => one.key === key && mentions(text, one.column));
    return Object.values(columns).flatMap((old) => {
      const wanted = end.tables[key]?.columns[old.name];
      if (wanted?.generated === undefined) return [];
      const isChanged = JSON.stringify(old) !== JSON.stringify(wanted);
      return isChanged || isFed(JSON.stringify(old.generated)) ? [{ key, column: old.name }] : [];
    });
  });
}

/** Whether two types have operators of their own: another length or precision has the same. */
export const isOtherType = (old: Column | undefined, wanted: Column | undefined): boolean => {
  const name = ({ type = "", typeSchema = "" }: Partial<Column> = {}) =>
    `${typeSchema}.${type.replace(/\([^)]*\)/, "")}`;
  return name(old) !== name(wanted);
};

/** Removes indexes and constraints that depend on the columns. */
export function clearDependents(
  { tables }: Snapshot,
  converted: readonly ColumnRef[],
  regenerated: readonly ColumnRef[],
): void {
  const all = [...converted, ...regenerated];
  const isOf = (refs: readonly ColumnRef[], key: string, column: string) =>
    refs.some((one) => one.key === key && one.column === column);
  for (const [key, table] of Object.entries(tables)) {
    const speaks = (text: string) => all.some((one) => one.key === key && mentions(text, one.column));
    const isMade = (column: string) => isOf(regenerated, key, column);
    const reads = ({ where = "", columns }: Index) =>
      speaks(where) || columns.some((part) => (part.isExpression ? speaks : isMade)(part.expression));
    remove(table.indexes, reads);
    remove(table.uniqueConstraints, ({ columns }) => columns.some(isMade));
    remove(table.checkConstraints, ({ value }) => speaks(value));
    remove(table.foreignKeys, ({ columnsFrom, columnsTo, schemaTo, tableTo }) => {
      const target = `${schemaTo || "public"}.${tableTo}`;
      return columnsFrom.some((one) => isOf(all, key, one)) || columnsTo.some((one) => isOf(all, target, one));
    });
  }
}

/** Removes the columns themselves, and the expressions of columns that are generated no more. */
export function clearColumns({ tables }: Snapshot, end: Snapshot, regenerated: readonly ColumnRef[]): void {
  for (const { key, column } of regenerated) delete tables[key]?.columns[column];
  for (const [key, { columns }] of Object.entries(tables)) {
    for (const column of Object.values(columns)) {
      const wanted = end.tables[key]?.columns[column.name];
      if (wanted && wanted.generated === undefined) delete column.generated;
    }
  }
}

function remove<T>(record: Record<string, T>, isGone: (value: T) => boolean): void {
  for (const [name, value] of Object.entries(record)) if (isGone(value)) delete record[name];
}
