/**
 * Enum types whose values change. New values alone are `add value`, at once and without touching a row, which
 * drizzle-kit writes. PostgreSQL can neither take a value away nor use a new one in the transaction that adds it, and
 * all migrations run in one: then the type is made anew and its columns are converted.
 */
import { stateOf } from "./schema-columns.ts";
import { literal, qualified, quote, short } from "./schema-names.ts";
import type { Column, Enum, Snapshot } from "./schema-snapshot.ts";

/** Types that must be made anew, by key. */
export function rebuiltEnums(before: Snapshot, after: Snapshot): string[] {
  return Object.entries(before.enums).flatMap(([key, from]) => {
    const to = after.enums[key];
    if (!to || same(from.values, to.values)) return [];
    const kept = to.values.filter((value) => from.values.includes(value));
    const added = to.values.filter((value) => !from.values.includes(value));
    const isDefault = columnsOf(after, to).some(({ column }) => added.some((value) => mentions(column, value)));
    return same(kept, from.values) && !isDefault ? [] : [key];
  });
}

const same = (a: readonly string[], b: readonly string[]) => JSON.stringify(a) === JSON.stringify(b);
const mentions = (column: Column, value: string) => String(column.default ?? "").includes(literal(value).slice(1, -1));

/** Columns of an enum type, and of arrays of it. */
export function columnsOf({ tables }: Snapshot, { name, schema }: Enum): { key: string; column: Column }[] {
  return Object.entries(tables).flatMap(([key, table]) =>
    Object.values(table.columns)
      .filter((column) => column.typeSchema === schema && column.type.replace(/(\[\d*\])+$/, "") === name)
      .map((column) => ({ key, column })),
  );
}

/** The statements that make a type anew. Defaults of its columns are then those of the new schema. */
export function rebuildEnum(before: Snapshot, after: Snapshot, key: string): string[] {
  const from = before.enums[key];
  const to = after.enums[key];
  if (!from || !to) return [];
  const type = qualified(key);
  const old = qualified(`${from.schema}.${`${from.name}`.slice(0, 58)}__old`);
  const columns = columnsOf(before, from);
  const alter = ({ key: table, column }: (typeof columns)[number]) =>
    `alter table ${qualified(table)} alter column ${quote(column.name)}`;
  const gone = from.values.filter((value) => !to.values.includes(value));
  const warning = `-- Takes ${gone.map(literal).join(", ")} away from ${short(key)}: fails while a row holds it.`;

  return [
    `${gone.length > 0 ? `${warning}\n` : ""}alter type ${type} rename to ${old.split(".").at(-1)};`,
    `create type ${type} as enum (${to.values.map(literal).join(", ")});`,
    ...columns.flatMap((item) => {
      const { name, default: value } = item.column;
      const wanted = after.tables[item.key]?.columns[name]?.default;
      const { type: columnType } = stateOf(item.column);
      return [
        ...(value === undefined ? [] : [`${alter(item)} drop default;`]),
        `${alter(item)} type ${columnType} using ${quote(name)}::text::${columnType};`,
        ...(wanted === undefined ? [] : [`${alter(item)} set default ${wanted};`]),
      ];
    }),
    `drop type ${old};`,
  ];
}
