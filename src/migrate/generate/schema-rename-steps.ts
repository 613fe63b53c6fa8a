/**
 * Carries out one rename: returns the statements, and makes the same change in the snapshot, so that the later
 * comparison finds only real changes. Constraints and sequences with derived names are renamed too.
 */
import { derivedName, literal, qualified, quote, split } from "../../postgres/schema-names.ts";
import { isSerial } from "./schema-identities.ts";
import { primaryKey } from "./schema-primary-keys.ts";
import { userTable } from "./schema-user-fields.ts";
import type { Column, Snapshot, Table } from "./snapshot.ts";

export type Kind = "table" | "enum" | "sequence" | "column" | "value" | "user field";

export interface Rename {
  text: string;
  from: string;
  to: string;
}

/** A matching rename: the part of the snapshot, and both names in the form of that part. */
export interface FoundRename {
  rename: Rename;
  kind: Kind;
  container: string;
  from: string;
  to: string;
}

/** Renames in the snapshot, in place. @returns the statements */
type Step = (snapshot: Snapshot, from: string, to: string, container: string) => string[];

export const renameSteps: Record<Kind, Step> = {
  table: renameTable,
  column: renameColumn,
  enum: renameEnum,
  sequence: (snapshot, from, to) => {
    moveKey(snapshot.sequences, from, to, (sequence) => Object.assign(sequence, split(to)));
    return renameRelation("sequence", from, to);
  },
  value: (snapshot, from, to, key) => {
    const type = snapshot.enums[key];
    if (type) type.values = type.values.map((value) => (value === from ? to : value));
    for (const table of Object.values(snapshot.tables)) {
      for (const column of Object.values(table.columns)) {
        const isOfType = column.typeSchema === type?.schema && column.type === type?.name;
        if (isOfType && column.default === literal(from)) column.default = literal(to);
      }
    }
    return [`alter type ${qualified(key)} rename value ${literal(from)} to ${literal(to)};`];
  },
  "user field": ({ svc }, from, to) => {
    moveKey(svc.userFields, from, to);
    return [`alter table ${userTable} rename column ${quote(from)} to ${quote(to)};`];
  },
};

function renameTable(snapshot: Snapshot, from: string, to: string): string[] {
  const { schema, name } = split(to);
  const old = split(from);
  const statements = renameRelation("table", from, to);
  moveKey(snapshot.svc.grants, from, to);
  moveKey(snapshot.tables, from, to, (table) => {
    Object.assign(table, { name, schema: schema === "public" ? "" : schema });
    const key = primaryKey(table);
    if (key && key.name === null && old.name !== name) {
      const [had, has] = [derivedName(old.name, null, "pkey"), derivedName(name, null, "pkey")];
      statements.push(`alter table ${qualified(to)} rename constraint ${quote(had)} to ${quote(has)};`);
    }
    for (const column of numbered(table, old.name)) {
      if (column.identity) column.identity.schema = schema;
      statements.push(...renameSequence(schema, column, [old.name, column.name], [name, column.name]));
    }
  });
  for (const table of Object.values(snapshot.tables)) {
    for (const foreignKey of Object.values(table.foreignKeys)) {
      if (foreignKey.tableFrom === old.name && table.name === name) foreignKey.tableFrom = name;
      const isTarget = foreignKey.tableTo === old.name && (foreignKey.schemaTo ?? "public") === old.schema;
      if (isTarget) Object.assign(foreignKey, { tableTo: name, schemaTo: schema });
    }
  }
  rewrite(snapshot, `"${old.name}".`, `"${name}".`);
  rewrite(snapshot, `from "${old.name}"`, `from "${name}"`);
  return statements;
}

function renameColumn(snapshot: Snapshot, from: string, to: string, key: string): string[] {
  const table = snapshot.tables[key];
  if (!table) return [];
  const { schema, name } = split(key);
  const statements = [`alter table ${qualified(key)} rename column ${quote(from)} to ${quote(to)};`];
  const column = numbered(table, name).find((one) => one.name === from);
  if (column) statements.push(...renameSequence(schema, column, [name, from], [name, to]));

  const renamed = (column: string) => (column === from ? to : column);
  moveKey(table.columns, from, to, (column) => Object.assign(column, { name: to }));
  for (const index of Object.values(table.indexes)) {
    for (const part of index.columns) if (!part.isExpression) part.expression = renamed(part.expression);
  }
  for (const constraint of [...Object.values(table.uniqueConstraints), ...Object.values(table.compositePrimaryKeys)]) {
    constraint.columns = constraint.columns.map(renamed);
  }
  for (const own of Object.values(table.foreignKeys)) own.columnsFrom = own.columnsFrom.map(renamed);
  for (const other of Object.values(snapshot.tables).flatMap(({ foreignKeys }) => Object.values(foreignKeys))) {
    const isTarget = other.tableTo === name && (other.schemaTo ?? "public") === schema;
    if (isTarget) other.columnsTo = other.columnsTo.map(renamed);
  }
  for (const privileges of Object.values(snapshot.svc.grants[key] ?? {})) {
    privileges.insert = privileges.insert.map(renamed);
    privileges.update = privileges.update.map(renamed);
  }
  rewrite(snapshot, `"${name}"."${from}"`, `"${name}"."${to}"`);
  return statements;
}

function renameEnum(snapshot: Snapshot, from: string, to: string): string[] {
  const old = split(from);
  const { schema, name } = split(to);
  moveKey(snapshot.enums, from, to, (type) => Object.assign(type, { name, schema }));
  for (const table of Object.values(snapshot.tables)) {
    for (const column of Object.values(table.columns)) {
      const [, base, brackets] = /^(.*?)((?:\[\d*\])*)$/.exec(column.type) ?? [];
      if (column.typeSchema !== old.schema || base !== old.name) continue;
      Object.assign(column, { type: `${name}${brackets}`, typeSchema: schema });
    }
  }
  return renameRelation("type", from, to);
}

function renameRelation(what: "table" | "type" | "sequence", from: string, to: string): string[] {
  const [old, next] = [split(from), split(to)];
  const moved = `${next.schema}.${old.name}`;
  return [
    ...(old.schema === next.schema ? [] : [`alter ${what} ${qualified(from)} set schema ${quote(next.schema)};`]),
    ...(old.name === next.name ? [] : [`alter ${what} ${qualified(moved)} rename to ${quote(next.name)};`]),
  ];
}

/** Columns whose sequence has the name derived from table and column. */
const numbered = (table: Table, name: string) =>
  Object.values(table.columns).filter(
    (column) => isSerial(column) || column.identity?.name === derivedName(name, column.name, "seq"),
  );

/** Renames a column's sequence. PostgreSQL keeps its name; renaming it keeps the name derivable from the table's. */
function renameSequence(schema: string, column: Column, from: [string, string], to: [string, string]): string[] {
  const had = `${schema}.${derivedName(...from, "seq")}`;
  const has = derivedName(...to, "seq");
  if (column.identity) column.identity.name = has;
  return had === `${schema}.${has}` ? [] : [`alter sequence ${qualified(had)} rename to ${quote(has)};`];
}

function moveKey<T>(record: Record<string, T>, from: string, to: string, change: (value: T) => void = () => {}): void {
  const value = record[from];
  if (value === undefined) return;
  delete record[from];
  record[to] = value;
  change(value);
}

/** Renames in expressions, as PostgreSQL does in stored ones; otherwise they would appear changed. */
function rewrite(snapshot: Snapshot, from: string, to: string): void {
  const renamed = (text: string) => text.replaceAll(from, to);
  for (const table of Object.values(snapshot.tables)) {
    for (const check of Object.values(table.checkConstraints)) check.value = renamed(check.value);
    for (const index of Object.values(table.indexes)) {
      if (index.where !== undefined) index.where = renamed(index.where);
      for (const part of index.columns) if (part.isExpression) part.expression = renamed(part.expression);
    }
    for (const policy of Object.values(table.policies)) {
      if (policy.using !== undefined) policy.using = renamed(policy.using);
      if (policy.withCheck !== undefined) policy.withCheck = renamed(policy.withCheck);
    }
  }
}
