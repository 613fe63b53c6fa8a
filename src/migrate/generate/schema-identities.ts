/**
 * Columns that number their rows. Drizzle's `serial` becomes an identity column. A serial needs USAGE on its sequence
 * for every request role that inserts, and then SQL in a request could exhaust an integer key in minutes. An identity
 * column needs no privilege.
 * Next hop: `schema-columns.ts` turns a column that exists into one.
 */
import { derivedName, qualified, quote, short, split } from "../../postgres/schema-names.ts";
import type { Column, Identity, Table } from "./snapshot.ts";

const storedTypes: Record<string, string> = { serial: "integer", smallserial: "smallint", bigserial: "bigint" };
export const maxima: Record<string, string> = {
  smallint: "32767",
  integer: "2147483647",
  bigint: "9223372036854775807",
};

/** The type that a column is stored with: a serial is an integer. */
export const storedType = (type: string): string => storedTypes[type] ?? type;

/** True in snapshots from before svc used identity columns. */
export const isSerial = ({ type }: Column): boolean => type in storedTypes;

/** Turns the serials of a table into identity columns, in place. */
export function numberByIdentity(table: Table): void {
  for (const column of Object.values(table.columns)) {
    if (!isSerial(column)) continue;
    column.type = storedType(column.type);
    column.identity = {
      type: "byDefault", // like a serial: seeds and imports insert their own numbers
      name: derivedName(table.name, column.name, "seq"),
      schema: table.schema || "public",
      increment: "1",
      startWith: "1",
      minValue: "1",
      maxValue: maxima[column.type] ?? "",
      cache: "1",
      cycle: false,
    };
  }
}

/** How PostgreSQL changes a sequence with its column's type: a maximum that was the old type's becomes the new type's. */
export function retypeIdentity(identity: Identity, from: string, to: string): Identity {
  const end = maxima[storedType(to)];
  return identity.maxValue === maxima[storedType(from)] && end !== undefined
    ? { ...identity, maxValue: end }
    : identity;
}

/** @param key of the table */
export function sequenceOf(key: string, column: Column): string {
  const { schema, name } = split(key);
  return `${schema}.${column.identity?.name ?? derivedName(name, column.name, "seq")}`;
}

/**
 * Turns an existing column into an identity column. The sequence of a former serial continues at its current value.
 *
 * @param column in its new state; its type and NOT NULL are already set
 */
export function addIdentity(key: string, column: Column, wasSerial: boolean): string[] {
  const table = qualified(key);
  const alter = `alter table ${table} alter column ${quote(column.name)}`;
  const sequence = sequenceOf(key, column);
  const next = `select setval('${qualified(sequence).replaceAll("'", "''")}', `;
  const add = `${alter} add generated ${column.identity?.type === "always" ? "always" : "by default"} as identity (${options(column)});`;
  if (!wasSerial) {
    const highest = `coalesce(max(${quote(column.name)}), 0) + 1, false) from ${table};`;
    return [add, `-- Numbers continue after the highest of ${short(key)}.`, next + highest];
  }
  const { schema, name } = split(key);
  const old = `${schema}.${derivedName(name, column.name, "serial")}`;
  return [
    `-- ${short(key)}.${column.name} becomes an identity column: inserts need no privilege on its sequence any more.`,
    `alter sequence ${qualified(`${schema}.${derivedName(name, column.name, "seq")}`)} rename to ${quote(split(old).name)};`,
    add,
    `${next}last_value, is_called) from ${qualified(old)};`,
    `drop sequence ${qualified(old)};`,
  ];
}

function options({ type, identity }: Column): string {
  const { name = "", startWith, increment, minValue, maxValue = "", cache, cycle }: Partial<Identity> = identity ?? {};
  const other = (word: string, value = "1", usual = "1") => (value === usual ? [] : [`${word} ${value}`]);
  return [
    `sequence name ${quote(name)}`,
    ...other("increment by", increment),
    ...other("minvalue", minValue),
    ...other("maxvalue", maxValue, maxima[type]),
    ...other("start with", startWith),
    ...other("cache", cache),
    ...(cycle ? ["cycle"] : []),
  ].join(" ");
}

/** Removes defaults from drizzle-kit's statement: a sequence from 1 to the type's maximum. */
export const shortenIdentity = (statement: string): string =>
  statement.replace(
    /(integer|smallint|bigint)([^,\n]* AS IDENTITY \(sequence name (?:"(?:[^"]|"")*"\.?)+) INCREMENT BY 1 MINVALUE 1 MAXVALUE (\d+) START WITH 1 CACHE 1\)/g,
    (whole, type: string, before: string, end: string) => (maxima[type] === end ? `${type}${before})` : whole),
  );
