/**
 * Changes of existing columns: type, default, NOT NULL. Not left to drizzle-kit: its `SET DATA TYPE` has no USING, and
 * fails when the old default cannot be converted.
 */
import { qualified, quote } from "../../postgres/schema-names.ts";
import { addIdentity, isSerial, retypeIdentity, sequenceOf, storedType } from "./schema-identities.ts";
import type { Column, ColumnRef, Snapshot } from "./snapshot.ts";

/** The properties of a column that ALTER COLUMN can change. */
export interface ColumnState {
  /** As SQL. */
  type: string;
  default: string | null;
  notNull: boolean;
}

/** The column's state, with the schema in an enum's type. */
export function stateOf({ type, typeSchema, default: value, notNull }: Column): ColumnState {
  const name = typeSchema ? enumType(type, typeSchema) : storedType(type);
  return { type: name, default: value === undefined ? null : String(value), notNull };
}

function enumType(type: string, schema: string): string {
  const [, name = type, brackets = ""] = /^(.*?)((?:\[\d*\])*)$/.exec(type) ?? [];
  return `${quote(schema)}.${quote(name)}${brackets}`;
}

/**
 * The statements from one state of a column to another.
 *
 * @param table as SQL
 */
export function alterColumn(table: string, column: string, from: ColumnState, to: ColumnState): string[] {
  const alter = `alter table ${table} alter column ${quote(column)}`;
  const statements: string[] = [];
  const retyped = from.type !== to.type;
  // The old default may not convert, even if the values do.
  const dropped = from.default !== null && (retyped || to.default === null);
  if (dropped) statements.push(`${alter} drop default;`);
  if (retyped && isOtherLength(from.type, to.type)) {
    statements.push(`${lengthComment(table, column, from, to)}\n${alter} type ${to.type} using null;`);
  } else if (retyped) {
    statements.push(`${retypeComment(table, column, from, to)}\n${alter} ${retype(column, to.type)};`);
  }
  if (to.default !== null && (retyped || from.default !== to.default)) {
    statements.push(`${alter} set default ${to.default};`);
  }
  if (from.notNull && !to.notNull) statements.push(`${alter} drop not null;`);
  if (!from.notNull && to.notNull) {
    const fill = `UPDATE ${table} SET ${quote(column)} = … WHERE ${quote(column)} IS NULL;`;
    statements.push(
      `-- Fails while a row of ${table} has null there.\n-- To fill it, write above: ${fill}\n${alter} set not null;`,
    );
  }
  return statements;
}

const retype = (column: string, type: string) => `type ${type} using ${quote(column)}::${type}`;

const retypeComment = (table: string, column: string, from: ColumnState, to: ColumnState) =>
  `-- Rewrites ${table}.${quote(column)} from ${from.type} to ${to.type}: values that the new type cannot hold are lost, or make it fail.`;

/** Whether both are vectors, of different lengths. pgvector converts no vector to another length. */
function isOtherLength(from: string, to: string): boolean {
  const vector = /^(vector|halfvec|sparsevec)\(\d+\)$/;
  return vector.test(from) && vector.test(to) && /\d+/.exec(from)?.[0] !== /\d+/.exec(to)?.[0];
}

const lengthComment = (table: string, column: string, from: ColumnState, to: ColumnState) =>
  from.notNull
    ? `-- Fails when ${table} has rows, because ${to.type} holds no vector of ${from.type}: let ${quote(column)} be null.`
    : `-- Loses the vectors in ${table}.${quote(column)}, because ${to.type} holds none of ${from.type}. Embed the texts again.`;

/** Removes differing columns from the comparison, and returns the statements that change them. */
export function takeColumns(from: Snapshot, to: Snapshot): { statements: string[]; retyped: ColumnRef[] } {
  const statements: string[] = [];
  const retyped: ColumnRef[] = [];
  for (const [key, table] of Object.entries(from.tables)) {
    for (const [name, old] of Object.entries(table.columns)) {
      const wanted = to.tables[key]?.columns[name];
      // drizzle-kit recreates generated columns correctly.
      if (!wanted || old.generated !== undefined || wanted.generated !== undefined) continue;
      statements.push(...alterTableColumn(key, old, wanted));
      if (stateOf(old).type !== stateOf(wanted).type) retyped.push({ key, column: name });
      table.columns[name] = { ...wanted };
      // drizzle-kit writes changes of a sequence's start or increment.
      if (old.identity && wanted.identity) {
        table.columns[name].identity = retypeIdentity(old.identity, old.type, wanted.type);
      }
    }
  }
  return { statements, retyped };
}

/** ALTER COLUMN for a table's column, including its identity sequence. */
function alterTableColumn(key: string, from: Column, to: Column): string[] {
  const table = qualified(key);
  const alter = `alter table ${table} alter column ${quote(from.name)}`;
  const wasSerial = isSerial(from);
  return [
    ...(wasSerial ? [`${alter} drop default;`] : []),
    ...(from.identity && !to.identity ? [`${alter} drop identity if exists;`] : []),
    ...alterColumn(table, from.name, stateOf(from), stateOf(to)),
    ...(wasSerial && !to.identity ? [`drop sequence ${qualified(sequenceOf(key, from))};`] : []),
    ...(to.identity && !from.identity ? addIdentity(key, to, wasSerial) : []),
  ];
}
