/**
 * Finds the statements of handlers that may stay prepared, because one plan fits all values: those without parameters, inserts
 * of values, and those that compare all columns of a unique key, so that they find one row at most. Any other is planned for
 * its values: a plan for all of them would be bad where one value has most of the rows (docs/adr/0053-statements-of-handlers-are-kept.md).
 * Called by `database.ts`.
 */
import { getTableName, is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import type { Schema } from "../contract/database.ts";
import { uniqueKeys } from "../kit/table-config.ts";

/** Texts whose answer is remembered. */
const maxTexts = 1_000;

/** @param schema the application's tables */
export function onePlanFits(schema: Schema): (text: string) => boolean {
  /** Of each table, by its name. */
  let keys: Map<string, string[][]> | undefined;
  const known = new Map<string, boolean>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    keys ??= new Map(
      Object.values(schema)
        .filter((one) => is(one, PgTable))
        .map((table) => {
          const ofAllRows = uniqueKeys(table).filter(({ where }) => !where);
          return [getTableName(table), ofAllRows.map(({ columns }) => columns)];
        }),
    );
    if (known.size >= maxTexts) known.clear();
    const fits = fitsOnePlan(text, keys);
    known.set(text, fits);
    return fits;
  };
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
