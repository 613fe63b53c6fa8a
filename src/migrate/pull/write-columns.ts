/**
 * Columns as Drizzle's declarations. A type that Drizzle does not know becomes a `customType` of its text.
 * Next hop: `write-schema.ts` puts them into tables.
 */
import { maxima } from "../generate/schema-identities.ts";
import type { PulledColumn } from "./catalog.ts";

/** Collects what the file imports, and declares above its tables. */
export interface Module {
  /** Imports from drizzle-orm/pg-core. @returns the name */
  core(name: string, kind?: "type"): string;
  /** @returns SQL as an expression of TypeScript */
  sql(text: string): string;
  /** @returns the constant of an enum */
  enumType(schema: string, name: string): string | undefined;
  /** @returns the function of a type that Drizzle does not know */
  customType(type: string): string;
}

export interface ColumnPlace {
  /** Whether it is the primary key, alone. */
  isKey: boolean;
  /** The sequence's name where the author gave none, such as `notes_id_seq`. */
  usualSequence: string;
  /** Whether whole numbers of 64 bits are read as numbers: those that a sequence has counted. */
  counts: boolean;
}

/** @returns such as `text("title").notNull().default("")` */
export function writeColumn(column: PulledColumn, place: ColumnPlace, module: Module): string {
  const { notNull, dimensions } = column;
  const options = optionsOf(column, place.usualSequence);
  const isSerial = isNumbered(column) && options.length === 0;
  const parts = [isSerial ? writeSerial(column, module) : writeType(column, place, module)];
  parts.push(...Array.from({ length: dimensions }, () => ".array()"));
  if (column.identity || (isNumbered(column) && !isSerial)) {
    const method = column.identity === "always" ? "generatedAlwaysAsIdentity" : "generatedByDefaultAsIdentity";
    parts.push(`.${method}(${options.length > 0 ? `{ ${options.join(", ")} }` : ""})`);
  }
  if (column.generated !== null) parts.push(`.generatedAlwaysAs(${module.sql(column.generated)})`);
  if (column.default !== null && !isNumbered(column)) parts.push(writeDefault(column, column.default, module));
  if (place.isKey) parts.push(".primaryKey()");
  else if (notNull && !isSerial) parts.push(".notNull()");
  return parts.join("");
}

/** Whether it is a serial column. */
export const isNumbered = ({ sequence, identity, type }: PulledColumn): boolean =>
  sequence !== null && identity === null && type in serials;

const serials: Record<string, string> = { smallint: "smallserial", integer: "serial", bigint: "bigserial" };

function writeSerial({ name, type }: PulledColumn, { core }: Module): string {
  const options = type === "bigint" ? ', { mode: "number" }' : "";
  return `${core(serials[type] as string)}(${JSON.stringify(name)}${options})`;
}

/** Types that take no options. Drizzle's functions have the same names, but for two. */
const plain =
  /^(smallint|integer|boolean|text|numeric|real|jsonb?|date|uuid|inet|cidr|macaddr8?|interval|point|line|character varying|double precision)$/;
const renamed: Record<string, string> = { "character varying": "varchar", "double precision": "doublePrecision" };

/** Types with a number in brackets, and the option that takes it. */
const sized: [pattern: RegExp, name: string, option: string][] = [
  [/^character varying\((\d+)\)$/, "varchar", "length"],
  [/^character\((\d+)\)$/, "char", "length"],
  [/^bit\((\d+)\)$/, "bit", "dimensions"],
  [/^(?:\w+\.)?vector\((\d+)\)$/, "vector", "dimensions"],
  [/^(?:\w+\.)?halfvec\((\d+)\)$/, "halfvec", "dimensions"],
  [/^(?:\w+\.)?sparsevec\((\d+)\)$/, "sparsevec", "dimensions"],
];

function writeType(column: PulledColumn, { counts }: ColumnPlace, module: Module): string {
  const { name, type } = column;
  const call = (builder: string, options: string[] = []) =>
    `${builder}(${[JSON.stringify(name), ...(options.length > 0 ? [`{ ${options.join(", ")} }`] : [])].join(", ")})`;
  const known = column.enum && module.enumType(column.enum.schema, column.enum.name);
  if (known) return call(known);
  if (type === "bigint") return call(module.core("bigint"), [`mode: "${counts ? "number" : "bigint"}"`]);
  if (plain.test(type)) return call(module.core(renamed[type] ?? type));
  for (const [pattern, builder, option] of sized) {
    const [, size] = pattern.exec(type) ?? [];
    if (size) return call(module.core(builder), [`${option}: ${size}`]);
  }
  const [, precision, scale] = /^numeric\((\d+),(-?\d+)\)$/.exec(type) ?? [];
  if (precision)
    return call(module.core("numeric"), [`precision: ${precision}`, ...(scale === "0" ? [] : [`scale: ${scale}`])]);
  const [, kind, digits, zone] = /^(time|timestamp)(?:\((\d)\))? (with|without) time zone$/.exec(type) ?? [];
  if (kind) {
    const options = [...(digits ? [`precision: ${digits}`] : []), ...(zone === "with" ? ["withTimezone: true"] : [])];
    return call(module.core(kind), options);
  }
  return call(module.customType(type));
}

/** Options of the sequence that differ from PostgreSQL's own. */
function optionsOf({ sequence, type }: PulledColumn, usualName: string): string[] {
  if (!sequence) return [];
  const { name, start, increment, min, max, cache, cycle } = sequence;
  return [
    ...(name === usualName ? [] : [`name: ${JSON.stringify(name)}`]),
    ...(start === "1" ? [] : [`startWith: ${text(start)}`]),
    ...(increment === "1" ? [] : [`increment: ${text(increment)}`]),
    ...(min === "1" ? [] : [`minValue: ${text(min)}`]),
    ...(max === maxima[type] ? [] : [`maxValue: ${text(max)}`]),
    ...(cache === "1" ? [] : [`cache: ${text(cache)}`]),
    ...(cycle ? ["cycle: true"] : []),
  ];
}

/** A number, or its text where JavaScript has no such number. */
const text = (digits: string) => (Number.isSafeInteger(Number(digits)) ? digits : JSON.stringify(digits));

const textual = /^(text|character varying|character|bpchar)/;
const whole = /^(smallint|integer)$/;

/** As a value of JavaScript where that is the same; otherwise as SQL. */
function writeDefault(column: PulledColumn, given: string, module: Module): string {
  const { type, dimensions, enum: ofEnum, qualifiedDefault } = column;
  const [, quoted] = /^'((?:[^'\\]|'')*)'::[\w\s."]+(?:\(\d+\))?$/.exec(given) ?? [];
  if (dimensions === 0) {
    if (given === "now()" && /^(timestamp|date|time)/.test(type)) return ".defaultNow()";
    if (given === "gen_random_uuid()" && type === "uuid") return ".defaultRandom()";
    if (type === "boolean" && /^(true|false)$/.test(given)) return `.default(${given})`;
    if (whole.test(type) && /^-?\d+$/.test(given)) return `.default(${given})`;
    if (quoted !== undefined && (textual.test(type) || ofEnum)) {
      return `.default(${JSON.stringify(quoted.replaceAll("''", "'"))})`;
    }
  }
  // createCrud copies it into functions that look into few schemas.
  return `.default(${module.sql(qualifiedDefault ?? given)})`;
}
