/**
 * Finds the statements of handlers that may stay prepared, because one plan fits all values: those without parameters, inserts
 * of values, and those that compare all columns of a unique key, so that they find one row at most. Any other is planned for
 * its values: a plan for all of them would be bad where one value has most of the rows (docs/adr/0053-statements-of-handlers-are-kept.md).
 * Called by `database.ts`.
 */
import { is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import type { Schema } from "../contract/database.ts";
import { tableConfig } from "../kit/table-config.ts";

/** Texts whose answer is remembered. */
const maxTexts = 1_000;

/** @param schema the application's tables */
export function onePlanFits(schema: Schema): (text: string) => boolean {
  let keys: Map<string, string[][]> | undefined;
  const known = new Map<string, boolean>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    keys ??= new Map(
      Object.values(schema)
        .filter((one) => is(one, PgTable))
        .map(uniqueKeys),
    );
    if (known.size >= maxTexts) known.clear();
    const fits = fitsOnePlan(text, keys);
    known.set(text, fits);
    return fits;
  };
}

/** By the table's name: columns that no two rows have in common. */
function uniqueKeys(table: PgTable): [string, string[][]] {
  const { name, columns, primaryKeys, uniqueConstraints, indexes } = tableConfig(table);
  const names = (all: readonly object[]) => all.map((column) => ("name" in column ? String(column.name) : ""));
  return [
    name,
    [
      ...columns.filter((column) => column.primary || column.isUnique).map((column) => [column.name]),
      ...[...primaryKeys, ...uniqueConstraints].map((key) => names(key.columns)),
      ...indexes.filter(({ config }) => config.unique && !config.where).map(({ config }) => names(config.columns)),
    ],
  ];
}

/** As Drizzle writes it: `where "notes"."id" = $1`, `and "notes"."slug" = $2`. */
const comparison = / (?:where|and) \(*"((?:[^"]|"")+)"\."((?:[^"]|"")+)" = \$\d/g;

function fitsOnePlan(text: string, keys: Map<string, string[][]>): boolean {
  if (!text.includes("$1")) return true;
  const selects = text.match(/\bselect\b/gi)?.length ?? 0;
  if (/^insert into /i.test(text)) return selects === 0;
  if (selects > 1 || /\b(or|not|union|intersect|except)\b/i.test(text)) return false;
  const compared = new Map<string, Set<string>>();
  for (const [, table = "", column = ""] of text.matchAll(comparison)) {
    compared.set(table, (compared.get(table) ?? new Set()).add(column));
  }
  return [...compared].some(([table, columns]) =>
    keys.get(table)?.some((key) => key.every((name) => columns.has(name))),
  );
}
