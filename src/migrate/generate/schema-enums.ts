/**
 * Enum types whose values change. drizzle-kit writes `add value` for added values, which is instant and changes no row.
 * But PostgreSQL cannot remove a value, nor use a new one in the transaction that adds it, and all migrations run in
 * one transaction. In these cases the type is recreated and its columns are converted.
 */
import { beginOf, literal, qualified, quote, short } from "../../postgres/schema-names.ts";
import { stateOf } from "./schema-columns.ts";
import type { Column, ColumnRef, Enum, Snapshot } from "./snapshot.ts";

/** The names of the types that must be recreated. */
export const rebuiltEnums = (from: Snapshot, to: Snapshot): string[] =>
  Object.entries(from.enums).flatMap(([key, old]) => {
    const wanted = to.enums[key];
    return wanted && isRebuilt(old, wanted, to) ? [old.name] : [];
  });

/** Removes the types that must be recreated from the comparison, and returns the statements for them. */
export function takeEnums(from: Snapshot, to: Snapshot): { statements: string[]; retyped: ColumnRef[] } {
  const statements: string[] = [];
  const retyped: ColumnRef[] = [];
  for (const [key, old] of Object.entries(from.enums)) {
    const wanted = to.enums[key];
    if (!wanted || !isRebuilt(old, wanted, to)) continue;
    const columns = columnsOf(from, old);
    statements.push(...rebuild(key, old, wanted, columns, to));
    from.enums[key] = wanted;
    for (const { key: table, column } of columns) {
      retyped.push({ key: table, column: column.name });
      const value = nextDefault(to, table, column);
      if (value === undefined) delete column.default;
      else column.default = value;
    }
  }
  return { statements, retyped };
}

function isRebuilt(old: Enum, wanted: Enum, to: Snapshot): boolean {
  const kept = wanted.values.filter((value) => old.values.includes(value));
  const added = wanted.values.filter((value) => !old.values.includes(value));
  const isDefault = columnsOf(to, wanted).some(({ column }) => added.some((value) => speaksOf(column, value)));
  return JSON.stringify(kept) !== JSON.stringify(old.values) || isDefault;
}

const speaksOf = (column: Column, value: string) => String(column.default ?? "").includes(literal(value).slice(1, -1));

/** Columns of an enum type, and of arrays of it. */
function columnsOf({ tables }: Snapshot, { name, schema }: Enum): { key: string; column: Column }[] {
  return Object.entries(tables).flatMap(([key, table]) =>
    Object.values(table.columns)
      .filter((column) => column.typeSchema === schema && column.type.replace(/(\[\d*\])+$/, "") === name)
      .map((column) => ({ key, column })),
  );
}

/** The new default of a column that keeps its type. If the type changes as well, the default is set with it. */
function nextDefault(to: Snapshot, key: string, { name, type, typeSchema }: Column): Column["default"] {
  const next = to.tables[key]?.columns[name];
  return next?.type === type && next.typeSchema === typeSchema ? next.default : undefined;
}

/** The statements that recreate a type. They set the new schema's defaults. */
function rebuild(
  key: string,
  old: Enum,
  wanted: Enum,
  columns: { key: string; column: Column }[],
  to: Snapshot,
): string[] {
  const replaced = `${beginOf(old.name, 58)}__old`;
  const gone = old.values.filter((value) => !wanted.values.includes(value));
  const warning = `-- Takes ${gone.map(literal).join(", ")} away from ${short(key)}. Fails while a row holds it.\n`;
  const convert = columns.flatMap(({ key: table, column }) => {
    const alter = `alter table ${qualified(table)} alter column ${quote(column.name)}`;
    const next = nextDefault(to, table, column);
    const { type } = stateOf(column);
    return [
      ...(column.default === undefined ? [] : [`${alter} drop default;`]),
      `${alter} type ${type} using ${quote(column.name)}::text::${type};`,
      ...(next === undefined ? [] : [`${alter} set default ${next};`]),
    ];
  });
  return [
    `${gone.length > 0 ? warning : ""}alter type ${qualified(key)} rename to ${quote(replaced)};`,
    `create type ${qualified(key)} as enum (${wanted.values.map(literal).join(", ")});`,
    ...convert,
    `drop type ${qualified(`${old.schema}.${replaced}`)};`,
  ];
}
