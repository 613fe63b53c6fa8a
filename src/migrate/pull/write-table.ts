/** What stands behind the columns of a table: keys, checks and indexes. */
import { derivedName } from "../../postgres/schema-names.ts";
import type { PulledForeignKey, PulledIndex, PulledTable } from "./catalog.ts";
import { memberOf } from "./names.ts";
import type { Module } from "./write-columns.ts";

/** A table's constant, and its properties by column. */
export interface Declared {
  /** In the file. */
  place: number;
  constant: string;
  columns: Map<string, string>;
}

export type Find = (table: { schema: string; name: string }) => Declared | undefined;

/** @returns the members, and whether one refers to a table that stands at or below this one */
export function writeMembers(
  table: PulledTable,
  declared: Declared,
  module: Module,
  find: Find,
): { members: string[]; looksAhead: boolean } {
  const own = (column: string) => memberOf("t", declared.columns.get(column) as string);
  const list = (columns: readonly string[]) => columns.map(own).join(", ");
  const named = ({ name, columns }: { name: string; columns: readonly string[] }) =>
    `{ name: ${JSON.stringify(name)}, columns: [${list(columns)}] }`;
  const { primaryKey, uniques, foreignKeys, checks, indexes } = table;
  const targets = foreignKeys.map(({ schema, table: name }) => find({ schema, name }));

  const members = [
    ...(primaryKey && (primaryKey.columns.length > 1 || !hasUsualName(table))
      ? [`${module.core("primaryKey")}(${named(primaryKey)})`]
      : []),
    ...uniques.map(
      ({ name, columns, nullsNotDistinct }) =>
        `${module.core("unique")}(${JSON.stringify(name)}).on(${list(columns)})${nullsNotDistinct ? ".nullsNotDistinct()" : ""}`,
    ),
    ...foreignKeys.flatMap((key, index) => {
      const target = targets[index];
      return target ? [writeForeignKey(key, target, target === declared, own, module)] : [];
    }),
    ...checks.map(
      ({ name, expression }) => `${module.core("check")}(${JSON.stringify(name)}, ${module.sql(bare(expression))})`,
    ),
    ...indexes.map((index) => writeIndex(index, own, module)),
  ];
  return { members, looksAhead: targets.some((target) => target && target.place > declared.place) };
}

function writeForeignKey(
  { name, columns, references, onUpdate, onDelete }: PulledForeignKey,
  target: Declared,
  isOwn: boolean,
  own: (column: string) => string,
  { core }: Module,
): string {
  const there = references.map((column) =>
    memberOf(isOwn ? "t" : target.constant, target.columns.get(column) as string),
  );
  const parts = [
    `name: ${JSON.stringify(name)}`,
    `columns: [${columns.map(own).join(", ")}]`,
    `foreignColumns: [${there.join(", ")}]`,
  ];
  const update = onUpdate === "no action" ? "" : `.onUpdate(${JSON.stringify(onUpdate)})`;
  const remove = onDelete === "no action" ? "" : `.onDelete(${JSON.stringify(onDelete)})`;
  return `${core("foreignKey")}({ ${parts.join(", ")} })${update}${remove}`;
}

function writeIndex(
  { name, unique, method, where, keys }: PulledIndex,
  own: (column: string) => string,
  module: Module,
): string {
  const written = keys.map(({ column, expression, descending, nullsFirst, operators }) => {
    if (column === null) {
      // Options of an expression are a part of its SQL.
      const options = `${operators ? ` ${operators}` : ""}${descending ? " desc" : ""}${nullsFirst === descending ? "" : nullsFirst ? " nulls first" : " nulls last"}`;
      return module.sql(`${expression}${options}`);
    }
    const order = descending ? ".desc()" : "";
    const nulls = nullsFirst ? ".nullsFirst()" : ""; // Drizzle writes NULLS LAST by itself, also after DESC
    return `${own(column)}${order}${nulls}${operators ? `.op(${JSON.stringify(operators)})` : ""}`;
  });
  const on =
    method === "btree" ? `on(${written.join(", ")})` : `using(${[JSON.stringify(method), ...written].join(", ")})`;
  const filter = where === null ? "" : `.where(${module.sql(bare(where))})`;
  return `${module.core(unique ? "uniqueIndex" : "index")}(${JSON.stringify(name)}).${on}${filter}`;
}

/** Drizzle's `.primaryKey()` gives this name. */
export const hasUsualName = ({ name, primaryKey }: PulledTable) => primaryKey?.name === derivedName(name, null, "pkey");

/** Without brackets around all of it. */
function bare(expression: string): string {
  const shape = expression.replace(/'(?:[^']|'')*'|"[^"]*"/g, (text) => "_".repeat(text.length));
  if (!shape.startsWith("(")) return expression;
  let depth = 0;
  for (let place = 0; place < shape.length; place++) {
    if (shape[place] === "(") depth++;
    if (shape[place] === ")") depth--;
    if (depth === 0) return place === shape.length - 1 ? expression.slice(1, -1) : expression;
  }
  return expression;
}
