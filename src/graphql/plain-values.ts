/**
 * Values of plain columns in GraphQL's form, made of those of calls by name. Both come from PostgreSQL: names write
 * JSON, PostGraphile formats each value.
 */
import { type GraphQLNamedType, isEnumType } from "grafast/graphql";
import type { ColumnDescription } from "../contract/crud.ts";

/** @returns undefined for a value that has another form in GraphQL */
export type Form = (value: unknown) => unknown;

const same: Form = (value) => value;

/** By the column's kind: the type that PostGraphile gives it, and the value's form. */
const forms: Partial<Record<ColumnDescription["kind"], [type: string, form: Form]>> = {
  integer: ["Int", same],
  bigint: ["BigInt", same],
  numeric: ["BigFloat", same],
  boolean: ["Boolean", same],
  text: ["String", same],
  uuid: ["UUID", same],
  date: ["Date", same],
};

const isoTime = /^(\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00:00$/;

/** PostgreSQL's JSON leaves zeros at the end out. Infinite times and years before Christ are as in calls by name. */
const timeWith =
  (zone: string): Form =>
  (value) => {
    if (value === null) return null;
    const text = String(value);
    const [, time, fraction = ""] = isoTime.exec(text) ?? [];
    return time ? `${time}.${fraction.padEnd(6, "0")}${zone}` : text.replace("+00:00", zone);
  };

/** Type names whose texts PostGraphile gives unchanged. */
const texts = new Set(["text", "varchar"]);

/** @returns undefined for a column that is not plain */
export function formOf(column: ColumnDescription, type: GraphQLNamedType): Form | undefined {
  const { kind, isArray, castType } = column;
  if (isArray || (kind === "text" && !texts.has(castType))) return undefined;
  if (kind === "enum" && isEnumType(type)) {
    const names = new Map(type.getValues().map(({ name, value }) => [value, name]));
    return (value) => (value === null ? null : names.get(value));
  }
  if (kind === "timestamp" && type.name === "Datetime") {
    return timeWith(column.type.includes("with time zone") ? "+00:00" : "");
  }
  const [name, form] = forms[kind] ?? [];
  return name === type.name ? form : undefined;
}
